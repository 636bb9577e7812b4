"""Megatron-LM: `iteration 31214/ 115311 | consumed samples: … | elapsed time per iteration (s): 106.46 | …`."""

from __future__ import annotations

import re
from typing import List

from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_in
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_CHECKPOINT, PHASE_EVAL, PHASE_STEP

_ITERATION = re.compile(r"\biteration\s+(\d+)\s*/\s*(\d+)\s*\|")
_SAVING = re.compile(r"\bsaving checkpoint at iteration\s+(\d+)")
_SAVED = re.compile(r"\bsuccessfully saved checkpoint (?:at|from) iteration\s+(\d+)")
_VALIDATION = re.compile(r"\bvalidation loss at iteration\s+(\d+)")


class Megatron(LineFormat):
    """Also Megatron-DeepSpeed, whose iteration lines are the same."""

    name = "megatron"
    markers = (b"iteration ", b"after training is done")

    def read(self, line: Line) -> List[Observation]:
        text = line.text
        found = _ITERATION.search(text)
        if found:
            values = values_in(text[found.end():].replace("|", "\n"))
            values[names.TOTAL_STEPS] = float(found.group(2))
            return [self.step(line, int(found.group(1)), values=values)]
        for pattern, phase in ((_SAVING, PHASE_CHECKPOINT), (_SAVED, PHASE_STEP), (_VALIDATION, PHASE_STEP)):
            found = pattern.search(text)
            if found:
                return [self.say(line, step=int(found.group(1)), phase=phase, boundary=True)]
        if "[after training is done]" in text:
            return [self.say(line, ending=names.TRAINED, text="training is done", phase=PHASE_EVAL, boundary=True)]
        return []
