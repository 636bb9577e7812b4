"""nanoGPT and its kin: `iter 100: loss 3.1234, time 250.12ms, mfu 35.2%`, `step 500: train loss …, val loss …`."""

from __future__ import annotations

import re
from typing import List

from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import NUMBER, values_in
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_CHECKPOINT, PHASE_STEP

_ITERATION = re.compile(r"\b(?:iter|step)\s+(\d+)(?:\s*/\s*\d+)?(?:\s*[:|,]\s*|\s+(?=loss\b))(.*\bloss\b.*)",
                        re.IGNORECASE)
_EVALUATION = re.compile(r"\b(?:iter|step)\s+(\d+)\s*:.*\bval loss\b", re.IGNORECASE)
_WORDS = re.compile(r"\b([a-z_]+)\s+(" + NUMBER + r")(ms)?")


class NanoGPT(LineFormat):
    """Also `step 10 | loss 3.1 | lr 6e-4 | norm: 0.3 | dt: 120.5ms | tok/sec: 51234`, and `step 10 loss 3.1`."""

    name = "nanogpt"
    markers = (b"iter ", b"step ", b"saving checkpoint to")

    def read(self, line: Line) -> List[Observation]:
        found = _EVALUATION.search(line.text)
        if found:
            return [self.say(line, step=int(found.group(1)), phase=PHASE_STEP, boundary=True)]
        found = _ITERATION.search(line.text)
        if found:
            text = _WORDS.sub(r"\n\1: \2\3\n", found.group(2).replace("|", "\n"))
            return [self.step(line, int(found.group(1)), values=values_in(text))]
        if "saving checkpoint to" in line.text:
            return [self.say(line, phase=PHASE_CHECKPOINT, boundary=True)]
        return []


