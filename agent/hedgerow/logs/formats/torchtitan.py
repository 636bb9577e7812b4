"""torchtitan: `[titan] 2025-01-01 00:00:00,123 - root - INFO - step: 10  loss: 4.2  memory: 40.2GiB  tps: 5,000`."""

from __future__ import annotations

import re
from typing import List

from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_in
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_CHECKPOINT, PHASE_STEP

_STEP = re.compile(r"\bstep:\s*(\d+)\s+loss:.*")
_SAVING = re.compile(r"\bSaving (?:the|a) (?:full )?checkpoint")
_SAVED = re.compile(r"\bFinished saving the checkpoint")


class Torchtitan(LineFormat):
    """Every rank prints its lines; they count as one stream."""

    name = "torchtitan"
    markers = (b"step:", b"Training completed", b"checkpoint")

    def read(self, line: Line) -> List[Observation]:
        text = line.text
        found = _STEP.search(text)
        if found:
            values = values_in(re.sub(r"\s{2,}", "\n", found.group()))
            return [self.step(line, int(found.group(1)), values=values)]
        if text.rstrip().endswith("Training completed"):
            return [self.say(line, ending=names.TRAINED, text="Training completed", phase=names.PHASE_OUTSIDE,
                             boundary=True)]
        if _SAVING.search(text):
            return [self.say(line, phase=PHASE_CHECKPOINT, boundary=True)]
        if _SAVED.search(text):
            return [self.say(line, phase=PHASE_STEP, boundary=True)]
        return []
