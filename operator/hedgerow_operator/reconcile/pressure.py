"""How busy this process is, by how late its own timer comes; who reports is asked for fewer reports meanwhile."""

import asyncio
import time
from collections.abc import Callable

LOOK_SECONDS = 0.5
# A loop that comes so late has more to do than it can; one that comes earlier than the other has time to spare.
LATE_SECONDS, IN_TIME_SECONDS = 0.25, 0.05
GROWTH, DECLINE, MOST = 1.5, 0.95, 8.0
# Beyond this a sender would look silent: the usual reportTimeoutSeconds is 30.
LONGEST_INTERVAL_SECONDS = 10.0


class Pressure:
    """``factor``: by how much intervals are stretched, 1.0 while there is time for everything."""

    def __init__(self) -> None:
        self.factor = 1.0

    def note(self, late: float) -> None:
        """The timer came so many seconds late."""
        if late > LATE_SECONDS:
            self.factor = min(MOST, self.factor * GROWTH)
        elif late < IN_TIME_SECONDS:
            self.factor = max(1.0, self.factor * DECLINE)

    def interval(self, seconds: float) -> float:
        """The interval to ask for where ``seconds`` would do."""
        if self.factor == 1.0:
            return seconds
        return max(seconds, min(LONGEST_INTERVAL_SECONDS, seconds * self.factor))

    async def run(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Measure until cancelled."""
        while True:
            asked = clock()
            await asyncio.sleep(LOOK_SECONDS)
            self.note(clock() - asked - LOOK_SECONDS)
