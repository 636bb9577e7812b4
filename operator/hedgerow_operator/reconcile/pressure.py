"""How busy this process is, by its processor time and by how late its own timer comes; who reports is asked for fewer
reports meanwhile, so that there is time left for each of them at once."""

import asyncio
import time
from collections.abc import Callable

from hedgerow_operator.reconcile.turns import Turns

LOOK_SECONDS = 0.5
# A loop that comes so late has more to do than it can; one that comes earlier than the other has time to spare.
LATE_SECONDS, IN_TIME_SECONDS = 0.25, 0.05
GROWTH, DECLINE, MOST = 1.5, 0.95, 8.0
# Shares of one core, all that Python uses. Beyond three quarters whatever comes has to wait noticeably long for what
# came before it, and longer and longer where nothing is left; with half of the core to spare, senders may come more
# often again, slowly.
FULL, BUSY, IDLE = 0.95, 0.75, 0.5
FULL_GROWTH, BUSY_GROWTH, IDLE_DECLINE = 1.3, 1.08, 0.98
# What a share is averaged over: single passes over large jobs are no load.
SHARE_SECONDS = 2.0
# Beyond this a sender would look silent: the usual reportTimeoutSeconds is 30.
LONGEST_INTERVAL_SECONDS = 10.0


class Pressure:
    """``factor``: by how much intervals are stretched, 1.0 while there is time for everything."""

    def __init__(self) -> None:
        self.factor = 1.0
        self._share = 0.0
        self._turns = Turns()

    def note(self, late: float, share: float = 0.0) -> None:
        """The timer came so many seconds late, and since the time before so much of one core was used."""
        self._share += (share - self._share) * LOOK_SECONDS / SHARE_SECONDS
        if late > LATE_SECONDS:
            self.factor *= GROWTH
        elif self._share > FULL:
            self.factor *= FULL_GROWTH
        elif self._share > BUSY:
            self.factor *= BUSY_GROWTH
        elif self._share < IDLE and late < IN_TIME_SECONDS:
            self.factor *= DECLINE if self._share < IDLE / 2 else IDLE_DECLINE
        self.factor = max(1.0, min(MOST, self.factor))

    def interval(self, seconds: float) -> float:
        """The interval to ask for where ``seconds`` would do."""
        if self.factor == 1.0:
            return seconds
        return max(seconds, min(LONGEST_INTERVAL_SECONDS, seconds * self.factor))

    def turn(self, seconds: float, now: float) -> float:
        """In how many seconds one of those who come at this ``interval`` is to come next. now: monotonic seconds."""
        return self._turns.place(self.interval(seconds), now)

    async def run(
        self, clock: Callable[[], float] = time.monotonic, processor: Callable[[], float] = time.process_time
    ) -> None:
        """Measure until cancelled."""
        while True:
            asked, used = clock(), processor()
            await asyncio.sleep(LOOK_SECONDS)
            passed = max(LOOK_SECONDS, clock() - asked)
            self.note(passed - LOOK_SECONDS, (processor() - used) / passed)
