"""NeMo 2: `Training epoch 0, iteration 10/999 | lr: 1e-05 | global_batch_size: 4 | global_step: 10 | …`."""

from __future__ import annotations

import re
from typing import List

from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_in
from hedgerow.logs.observation import Observation

_ITERATION = re.compile(r"\bTraining epoch (\d+), iteration (\d+)/(\d+) \|(.*)")
_GLOBAL_STEP = re.compile(r"\bglobal_step: (\d+)")


class NeMo(LineFormat):
    """The progress bars of older versions are Lightning's."""

    name = "nemo"
    markers = (b"Training epoch ",)

    def read(self, line: Line) -> List[Observation]:
        found = _ITERATION.search(line.text)
        if not found:
            return []
        rest = found.group(4)
        step = _GLOBAL_STEP.search(rest)
        values = values_in(rest.replace("|", "\n"))
        values[names.TOTAL_STEPS] = float(found.group(3)) + 1
        return [self.step(line, int((step or found).group(1 if step else 2)), values=values)]
