"""A rate limit as a provider keeps it: so many calls in a sliding window, so many at a time."""

import asyncio
from collections import deque


class Quota:
    """most: the largest number of calls at a time that was seen."""

    def __init__(self, count: int, seconds: float, concurrent: int) -> None:
        self._count, self._seconds, self._concurrent = count, seconds, concurrent
        self._times: deque[float] = deque()
        self._now = self.most = self.refused = 0

    def enter(self) -> bool:
        """Whether this call is taken; leave() when it is over."""
        now = asyncio.get_running_loop().time()
        while self._times and self._times[0] <= now - self._seconds:
            self._times.popleft()
        if len(self._times) >= self._count or self._now >= self._concurrent:
            self.refused += 1
            return False
        self._times.append(now)
        self._now += 1
        self.most = max(self.most, self._now)
        return True

    def leave(self) -> None:
        """It is over."""
        self._now -= 1
