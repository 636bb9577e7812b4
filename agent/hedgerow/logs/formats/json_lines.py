"""JSON lines: `{"step": 10, "loss": 2.3, "time": 1700000000.0}`, `DLLL {"step": […], "data": {…}}`."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line, find_clock
from hedgerow.logs.numbers import values_of, whole
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_STEP

_STEPS = ("step", "global_step", "iteration", "iter", "_step", "trainer/global_step")
_TIMES = ("time", "timestamp", "ts", "_timestamp", "created_at", "datetime", "@timestamp")
_LEAST_EPOCH = 1e8  # seconds; a smaller number is no time of day
_MOST_SECONDS = 4.1e9  # from the year 2100 on it is the next unit
_UNITS = (1.0, 1e3, 1e6, 1e9)  # of a second


class JSONLines(LineFormat):
    """Objects with a step, each on a line of its own, also behind a prefix."""

    name = "json"
    markers = (b'step"', b'"iteration"', b'"iter"')

    def read(self, line: Line) -> List[Observation]:
        fields = _object(line.text)
        step = _step(fields)
        if step is None or "event_type" in fields:
            return []
        time, zoned = _time(fields)
        if time is None:
            time, zoned = line.clock
        phase = fields.get("phase")
        phase = phase if isinstance(phase, str) and phase else PHASE_STEP
        rank = whole(fields.get("rank"))
        said = {"time": time, "zoned": zoned, "rank": line.rank if rank is None else rank, "values": values_of(fields)}
        if phase != PHASE_STEP:
            return [self.say(line, step=step, phase=phase, boundary=True, **said)]
        return [self.step(line, step, **said)]


def _object(text: str) -> Dict[str, Any]:
    at = text.find("{")
    if at < 0:
        return {}
    try:
        fields, _end = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return {}
    data = fields.get("data")
    return dict(data, **fields) if isinstance(data, dict) else fields


def _step(fields: Dict[str, Any]) -> Optional[int]:
    for key in _STEPS:
        value = fields.get(key)
        if isinstance(value, list) and value:  # DLLogger: [epoch, iteration]
            value = value[-1]
        step = whole(value)
        if step is not None:
            return step
    return None


def _time(fields: Dict[str, Any]) -> Tuple[Optional[float], bool]:
    for key in _TIMES:
        value = fields.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= _LEAST_EPOCH:
            unit = next((unit for unit in _UNITS if value <= _MOST_SECONDS * unit), None)
            if unit is not None:
                return value / unit, True
        if isinstance(value, str):
            time, zoned = find_clock(value)
            if time is not None:
                return time, zoned
    return None, True
