"""Long pauses that a job makes by itself, as they are remembered."""

from msgspec import Struct

_KEPT = 16


class Pause(Struct, frozen=True):
    """A pause in a phase: when it began (seconds by any one clock), after which step, how long it took (seconds).

    attempt: in which one; time goes on between attempts, a rhythm by time does not.
    """

    began: float
    step: int | None
    seconds: float
    attempt: int = 0


class Pauses(Struct, frozen=True):
    """The newest pauses of a job, oldest first."""

    seen: tuple[Pause, ...] = ()

    def add(self, pause: Pause) -> "Pauses":
        """With one more; the oldest is forgotten."""
        return Pauses((*self.seen, pause)[-_KEPT:])
