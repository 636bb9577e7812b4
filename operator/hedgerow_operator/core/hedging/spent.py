"""What was spent within the last hour and the last day, in slices of time, so that its size never grows."""

from collections import deque

HOUR, DAY = 3600.0, 86_400.0
# A slice counts until all of it is out of the window, so a window is never shorter than it says.
_SLICES = 60


class Window:
    """A sum over the last ``seconds``. Times may only grow; an earlier one counts as the newest."""

    def __init__(self, seconds: float) -> None:
        self._slice = seconds / _SLICES
        self._sums: deque[tuple[int, int]] = deque()
        self._total = 0

    def add(self, amount: int, now: float) -> None:
        """So much was spent now."""
        number = int(now // self._slice)
        if self._sums and self._sums[-1][0] >= number:
            number, before = self._sums.pop()
            self._sums.append((number, before + amount))
        else:
            self._sums.append((number, amount))
        self._total += amount

    def total(self, now: float) -> int:
        """Within the window that ends now."""
        oldest = int(now // self._slice) - _SLICES
        while self._sums and self._sums[0][0] < oldest:
            self._total -= self._sums.popleft()[1]
        return self._total


class Spent:
    """By window. measured: what providers have said that they charge. estimated: what we reckon, never told as
    measured.
    """

    def __init__(self) -> None:
        self._windows = {(seconds, measured): Window(seconds) for seconds in (HOUR, DAY) for measured in (True, False)}

    def add(self, amount: int, now: float, *, measured: bool) -> None:
        """So much was spent now."""
        for seconds in (HOUR, DAY):
            self._windows[seconds, measured].add(amount, now)

    def total(self, seconds: float, now: float, *, measured: bool | None = None) -> int:
        """Of one basis; None: of both."""
        if measured is not None:
            return self._windows[seconds, measured].total(now)
        return self._windows[seconds, True].total(now) + self._windows[seconds, False].total(now)
