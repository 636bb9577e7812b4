"""NVIDIA DLLogger: `DLL 2025-10-03 22:01:47.453 - Iteration 7 | iteration_time : 71.85 ms | train_loss : 3.20`."""

from __future__ import annotations

import re
from typing import List

from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_in
from hedgerow.logs.observation import Observation

_ITERATION = re.compile(r"\bDLL \d{4}-.*? - (?:Epoch:? \d+ )?Iteration:? (\d+)\s(.*)")


class DLLogger(LineFormat):
    """The text form; its JSON form (`DLLL {…}`) is read as JSON lines."""

    name = "dllogger"
    markers = (b"DLL 2",)

    def read(self, line: Line) -> List[Observation]:
        found = _ITERATION.search(line.text)
        if not found:
            return []
        return [self.step(line, int(found.group(1)), values=values_in(found.group(2).replace("|", "\n")))]
