"""When those who report at regular intervals come next, so that they do not come in crowds.

Senders that come at one interval keep their distances for ever: those that came back in a crowd to an operator that was
begun anew would be one at every interval. So whoever would come in a crowd is told a quieter moment somewhat earlier.
"""

import math

SLOT_SECONDS = 0.1
# So many a slot need no order: they are read in a few milliseconds.
_CROWD = 10
# At least this share of the interval passes, so that a crowd can reach what is quiet behind it.
_EARLIEST = 0.2
_SLOTS = 128


class Turns:
    """How many are told to come in each slot of time. now: seconds of one clock that does not go back."""

    def __init__(self) -> None:
        self._counts = [0] * _SLOTS
        self._slot = self._all = 0

    def place(self, seconds: float, now: float) -> float:
        """Give a turn to one that would come in ``seconds``; in how many seconds it is."""
        slot = self._pass_to(now)
        slots = int(seconds / SLOT_SECONDS)
        if slots >= _SLOTS:
            return seconds
        last = chosen = slot + slots
        usual = max(_CROWD, self._all // max(1, slots))
        if self._counts[last % _SLOTS] > usual:
            chosen = self._quieter(slot + math.ceil(_EARLIEST * slots), last, usual)
        self._counts[chosen % _SLOTS] += 1
        self._all += 1
        return seconds - (last - chosen) * SLOT_SECONDS

    def _quieter(self, first: int, last: int, usual: int) -> int:
        """The latest slot in which no more than the usual number come; the last where there is none."""
        counts = self._counts
        for slot in range(last - 1, first - 1, -1):
            if counts[slot % _SLOTS] < usual:
                return slot
        return last

    def _pass_to(self, now: float) -> int:
        slot = int(now / SLOT_SECONDS)
        for passed in range(max(self._slot, slot - _SLOTS), slot):
            self._all -= self._counts[passed % _SLOTS]
            self._counts[passed % _SLOTS] = 0
        self._slot = slot
        return slot
