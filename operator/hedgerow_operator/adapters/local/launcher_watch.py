"""Tells a launcher that stands still: stopped by a signal, frozen, or caught in something that never returns.

Its main thread wakes up four times a second to look at its ranks, so one that has not woken up for as long as a
launcher may be silent (health.reportTimeoutSeconds) neither watches nor reports. This is read from the kernel: whether
reports arrive does not matter, so that a fault of the report server is never taken for one of a launcher.
"""

from collections.abc import Iterable

from msgspec import Struct

from hedgerow_operator.adapters.local.processes import Identity, wake_ups

LOOK_SECONDS = 1.0
# Whoever looks may have been stopped too: time in which nobody looked counts for no more than this.
_LONGEST_GAP_SECONDS = 2.0


class _Standing(Struct, frozen=True):
    wake_ups: int
    looked: float
    seconds: float


class LauncherWatch:
    """How long each launcher has been seen to stand still."""

    def __init__(self) -> None:
        self._standing: dict[Identity, _Standing] = {}

    def look(self, launcher: Identity, now: float) -> float:
        """Seconds for which it has not woken up, as far as somebody watched. now: a monotonic clock."""
        count, before = wake_ups(launcher), self._standing.get(launcher)
        if count is None:
            self._standing.pop(launcher, None)
            return 0.0
        still = before is not None and before.wake_ups == count
        seconds = before.seconds + min(now - before.looked, _LONGEST_GAP_SECONDS) if still and before else 0.0
        self._standing[launcher] = _Standing(count, now, seconds)
        return seconds

    def keep(self, launchers: Iterable[Identity]) -> None:
        """Forget all others."""
        self._standing = {launcher: self._standing[launcher] for launcher in launchers if launcher in self._standing}
