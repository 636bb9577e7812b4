"""DLRover and atorch trainer events: `[time] [pid] [id] [trainer] [#step] [BEGIN] {json}`."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List

from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_of, whole
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_CHECKPOINT, PHASE_EVAL, PHASE_STEP

_EVENT = re.compile(r"\[#(\w+)\] \[(BEGIN|END|INSTANT)\]\s*(.*)")
_PHASES = {"save": PHASE_CHECKPOINT, "evaluate": PHASE_EVAL, "predict": PHASE_EVAL}


class DLRover(LineFormat):
    """`step` and `save` and `evaluate` are phases with a begin and an end; `log` carries values."""

    name = "dlrover"
    markers = (b"] [#",)

    def read(self, line: Line) -> List[Observation]:
        found = _EVENT.search(line.text)
        if not found:
            return []
        event, kind, rest = found.groups()
        fields = _object(rest)
        step = whole(fields.get("global_step"))
        if event == "log":
            logs = fields.get("logs")
            return [self.say(line, step=step, values=values_of(logs if isinstance(logs, dict) else {}))]
        if event == "step" and kind == "END":
            return [self.step(line, step)]
        if event == "step" or (event in _PHASES and kind == "END"):
            return [self.say(line, step=step, phase=PHASE_STEP, boundary=True)]
        if event in _PHASES:
            return [self.say(line, step=step, phase=_PHASES[event], boundary=True)]
        return [self.say(line, step=step)]


def _object(text: str) -> Dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
