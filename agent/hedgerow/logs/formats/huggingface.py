"""Hugging Face Trainer: `{'loss': 2.31, 'grad_norm': …, 'learning_rate': …, 'epoch': …}` and bare progress bars."""

from __future__ import annotations

import re
from typing import List, Optional

from hedgerow.logs import observation as names
from hedgerow.logs.formats.bars import MARKERS, Bar, find_bar
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_in
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_EVAL, PHASE_STEP

_FIELDS = re.compile(r"\{'[^{}]*\}?")
_TITLES = ("", "train", "training", "steps")


class HuggingFace(LineFormat):
    """The dict lines carry no step: where there is a bar it tells the step; without one they are counted."""

    name = "huggingface"
    markers = (b"{'loss'", b"'eval_loss'", b"'train_runtime'", *MARKERS)

    def __init__(self) -> None:
        self._total: Optional[int] = None
        self._done: Optional[int] = None
        self._lines = 0

    def read(self, line: Line) -> List[Observation]:
        said = []
        bar = find_bar(line.text)
        if bar:
            said += self._bar(line, bar)
        found = _FIELDS.search(line.text)
        if found:
            said += self._fields(line, found.group())
        return said

    def _bar(self, line: Line, bar: Bar) -> List[Observation]:
        if bar.title.lower() not in _TITLES or bar.total is None:
            return []
        if self._total is None:
            self._total = bar.total
        if bar.total != self._total:
            return [self.say(line, phase=PHASE_EVAL, boundary=True, elapsed=None)]
        if bar.done == self._done:
            return []
        first = self._done is None
        self._done = bar.done
        values = {names.TOTAL_STEPS: float(bar.total)}
        if first or bar.done == 0:
            return [self.say(line, step=bar.done, phase=PHASE_STEP, boundary=True, elapsed=bar.elapsed, values=values)]
        return [self.step(line, bar.done, elapsed=bar.elapsed, values=values)]

    def _fields(self, line: Line, fields: str) -> List[Observation]:
        values = values_in(fields)
        if "'train_runtime'" in fields:
            return [self.say(line, ending=names.TRAINED, text="the trainer printed its summary",
                             phase=names.PHASE_OUTSIDE, boundary=True)]
        if "'eval_loss'" in fields:
            return [self.say(line, phase=PHASE_STEP, boundary=True)]
        if not fields.startswith("{'loss'"):
            return []
        self._lines += 1
        if self._done is not None:
            return [self.say(line, step=self._done, values=values)]
        return [self.step(line, self._lines, values=values)]
