"""The moments of the demo that its summary is made of."""

from dataclasses import dataclass


@dataclass
class Times:
    """Monotonic seconds at which something was seen; None: it was not."""

    hang: float | None = None
    verdict: float | None = None
    running: float | None = None

    @property
    def to_verdict(self) -> float | None:
        """Seconds from the hang to the verdict."""
        return _between(self.hang, self.verdict)

    @property
    def to_running(self) -> float | None:
        """Seconds from the verdict until all ranks of the next attempt ran."""
        return _between(self.verdict, self.running)


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else max(0.0, end - start)
