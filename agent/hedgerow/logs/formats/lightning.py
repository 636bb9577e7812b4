"""PyTorch Lightning and NeMo bars: `Epoch 0:  45%|████▌ | 450/1000 [01:20<01:38, 5.58it/s, train_loss=0.3]`."""

from __future__ import annotations

import re
from typing import List, Optional, Tuple

from hedgerow.logs import observation as names
from hedgerow.logs.formats.bars import MARKERS, Bar, find_bar
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_in, whole
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_EVAL, PHASE_STEP

_EPOCH = re.compile(r"\bEpoch (\d+)$")
_VALIDATION = re.compile(r"\b(?:Validation|Validating|Testing|Sanity Checking)\b")
_GLOBAL_STEP = re.compile(r"\bglobal_step=(\d+(?:\.0)?)\b")
_STOPPED = re.compile(r"`Trainer\.fit` stopped: (.*)")


class Lightning(LineFormat):
    """The step is global_step where the bar shows it, else the batches of the epochs so far."""

    name = "lightning"
    markers = (*MARKERS, b"`Trainer.fit` stopped")

    def __init__(self) -> None:
        self._latest: Optional[Tuple[int, int]] = None

    def read(self, line: Line) -> List[Observation]:
        stopped = _STOPPED.search(line.text)
        if stopped:
            return [self.say(line, ending=names.TRAINED, text=stopped.group(1)[:200],
                             phase=names.PHASE_OUTSIDE, boundary=True)]
        bar = find_bar(line.text)
        if bar is None:
            return []
        if _VALIDATION.search(bar.title):
            return [self.say(line, phase=PHASE_EVAL, boundary=True)]
        epoch = _EPOCH.search(bar.title)
        return self._epoch(line, bar, int(epoch.group(1))) if epoch else []

    def _epoch(self, line: Line, bar: Bar, epoch: int) -> List[Observation]:
        if (epoch, bar.done) == self._latest:
            return []
        first = self._latest is None or bar.done == 0
        self._latest = (epoch, bar.done)
        found = _GLOBAL_STEP.search(bar.more)
        step = whole(float(found.group(1))) if found else epoch * (bar.total or 0) + bar.done
        values = values_in(bar.more.replace(",", "\n"))
        values.pop(names.SAMPLES_PER_SECOND, None)
        if first:
            return [self.say(line, step=step, phase=PHASE_STEP, boundary=True, elapsed=bar.elapsed, values=values)]
        return [self.step(line, step, elapsed=bar.elapsed, values=values)]
