"""The durations that all launchers of an attempt report, added up as they come."""

from hedgerow_operator.core.durations import Phases


class DurationSums:
    """``total``: phase -> histogram, of the newest report of each launcher."""

    def __init__(self) -> None:
        self.total: dict[str, dict[int, int]] = {}
        self._parts: dict[int, Phases] = {}

    def add(self, worker: int, durations: Phases) -> None:
        """A report: its counts, which are of the whole attempt, take the place of the launcher's last ones."""
        self._count(self._parts.get(worker, {}), -1)
        self._count(durations, 1)
        self._parts[worker] = durations

    def _count(self, durations: Phases, sign: int) -> None:
        for phase, histogram in durations.items():
            into = self.total.setdefault(phase, {})
            for bucket, amount in histogram.items():
                into[bucket] = into.get(bucket, 0) + sign * amount
                if not into[bucket]:
                    del into[bucket]
