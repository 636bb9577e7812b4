"""Collections of garbage that are short, because they come often enough.

CPython looks at young objects once so many more were made than freed. Where each report takes the place of another, as
many are freed as are made: nothing is looked at for minutes, while all that is kept counts as young, and then all of it
is looked at at once (half a second for 12 500 nodes). So it is done here, by the number of reports.
"""

import gc

# A report leaves some thirty objects that are looked at: so many reports are about a millisecond.
REPORTS = 100
# What was young so many times is looked at once more, then counts as old.
_ROUNDS = 4


class Garbage:
    """Of what reports leave."""

    def __init__(self) -> None:
        self._reports = self._rounds = 0

    def left_by_report(self) -> None:
        """One report was taken."""
        self._reports += 1
        if self._reports >= REPORTS:
            self._reports, self._rounds = 0, self._rounds + 1
            self._collect()

    def _collect(self) -> None:
        if not gc.isenabled():
            return
        middle = self._rounds >= _ROUNDS
        if middle:
            self._rounds = 0
        gc.collect(1 if middle else 0)
