"""Memory of each worker against its limit: when it will be reached, by a slope that a few odd samples do not move."""

from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.alarms import LEAK_RISES, LEAK_SHARE, slope
from hedgerow_operator.core.watching.digest import Digest
from hedgerow_operator.core.watching.signs import Sign

LEAST_SAMPLES, MOST_SAMPLES = 32, 64
FIRST_SPACING, LAST_SPACING = 4.0, 60.0  # seconds from sample to sample
# Caches that fill grow ever more slowly; what leaks goes on as it began.
STEADY_SHARE = 0.75
# A limit that is this far away is no news yet.
HORIZON_SECONDS = 12 * 3600.0
_MEBIBYTE = 2.0**20


class WorkerMemory:
    """The memory of one worker's ranks together. ``reached``: when it reaches its limit, None while it does not."""

    def __init__(self) -> None:
        self.reached: float | None = None
        self.rate = 0.0
        self._samples: list[tuple[float, float]] = []
        self._spacing = FIRST_SPACING
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}

    @property
    def ready(self) -> bool:
        """Whether enough is known."""
        return len(self._samples) >= LEAST_SAMPLES

    @property
    def fastest(self) -> int:
        """The rank that grew most."""
        return max(self._last, key=lambda rank: self._last[rank] - self._first.get(rank, self._last[rank]))

    def add(self, now: float, seen: Digest) -> None:
        """One report."""
        if not seen.memory or seen.memory_limit is None:
            return
        if self._samples and now - self._samples[-1][0] < self._spacing:
            return
        if set(seen.memory) != set(self._first):
            self._first, self._samples = dict(seen.memory), []
        self._last = seen.memory
        self._samples.append((now, float(sum(seen.memory.values()))))
        if len(self._samples) > MOST_SAMPLES:
            self._thin()
        self.reached = self._predict(now, float(seen.memory_limit))

    def _thin(self) -> None:
        """Over the first hour ever wider samples of all, then the newest."""
        if self._spacing < LAST_SPACING:
            self._samples, self._spacing = self._samples[::2], 2 * self._spacing
        else:
            self._samples = self._samples[1:]

    def _predict(self, now: float, limit: float) -> float | None:
        if not self.ready:
            return None
        rate, rises = slope(self._samples)
        half = len(self._samples) // 2
        newer, _rises = slope(self._samples[half:])
        (begun, first), (_ended, last) = self._samples[0], self._samples[-1]
        grows = rises >= LEAK_RISES and rate * (now - begun) >= LEAK_SHARE * first and newer >= STEADY_SHARE * rate
        if not grows or newer <= 0.0:
            return None
        self.rate = newer
        left = max(0.0, limit - last) / newer
        return now + left if left <= HORIZON_SECONDS else None


class MemoryWatch:
    """All workers of a gang; tells of the one that comes to its limit first."""

    def __init__(self) -> None:
        self._workers: dict[int, WorkerMemory] = {}
        self._due: dict[int, WorkerMemory] = {}

    def judged(self) -> frozenset[str]:
        """The name, once all workers that have a limit are known well enough."""
        known = bool(self._workers) and all(worker.ready for worker in self._workers.values())
        return frozenset({reasons.MEMORY_GROWING}) if known else frozenset()

    def add(self, worker: int, now: float, seen: Digest) -> None:
        """One report of one worker."""
        if seen.memory and seen.memory_limit is not None:
            memory = self._workers.setdefault(worker, WorkerMemory())
            memory.add(now, seen)
            if memory.reached is not None:
                self._due[worker] = memory
            else:
                self._due.pop(worker, None)

    def signs(self) -> list[Sign]:
        """At most one."""
        due = self._due.values()
        if not due:
            return []
        first = min(due, key=lambda memory: memory.reached or 0.0)
        rank = first.fastest
        others = f" (as do {len(due) - 1} other workers)" if len(due) > 1 else ""
        message = (
            f"the memory of {phrases.ranks([rank])} grows by {first.rate * 3600 / _MEBIBYTE:.0f} MiB an hour{others}; "
            f"{phrases.ranks([rank])} reaches its limit at about {phrases.clock(first.reached or 0.0)[:5]} UTC"
        )
        return [Sign(name=reasons.MEMORY_GROWING, reason=reasons.MEMORY_GROWING, message=message, ranks=(rank,))]
