"""DeepSpeed: `[Rank 0] step=10, skipped=0, lr=[…]`, `…/global_step=10, …SamplesPerSec=…`, `steps: 10 loss: …`."""

from __future__ import annotations

import re
from typing import List, Optional

from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import NUMBER, number, values_in
from hedgerow.logs.observation import Observation

_STEP = re.compile(r"\[Rank (\d+)\] step=(\d+), skipped=\d+(?:, lr=\[(" + NUMBER + "))?")
_TIMER = re.compile(r"global_step=(\d+), RunningAvgSamplesPerSec=[^,]*, CurrSamplesPerSec=(" + NUMBER + ")")
_PIPELINE = re.compile(r"\bsteps: (\d+) loss: ")


class DeepSpeed(LineFormat):
    """A step is told on up to three lines: only the first that tells of it is progress."""

    name = "deepspeed"
    markers = (b"skipped=", b"global_step=", b"steps: ")

    def __init__(self) -> None:
        self._latest: Optional[int] = None

    def read(self, line: Line) -> List[Observation]:
        found = _STEP.search(line.text)
        if found:
            values = {names.LEARNING_RATE: number(found.group(3))} if found.group(3) else {}
            return [self._progress(line, int(found.group(2)), values, int(found.group(1)))]
        found = _TIMER.search(line.text)
        if found:
            return [self._progress(line, int(found.group(1)), {names.SAMPLES_PER_SECOND: number(found.group(2))})]
        found = _PIPELINE.search(line.text)
        if found:
            text = line.text[found.start():].replace("iter time", "\niter time").replace("samples/sec", "\nsamples/sec")
            return [self._progress(line, int(found.group(1)), values_in(text.replace("loss:", "\nloss:")))]
        return []

    def _progress(self, line: Line, step: int, values: "dict[str, float]", rank: Optional[int] = None) -> Observation:
        rank = line.rank if rank is None else rank
        if step == self._latest:
            return self.say(line, step=step, values=values, rank=rank)
        self._latest = step
        return self.step(line, step, values=values, rank=rank)
