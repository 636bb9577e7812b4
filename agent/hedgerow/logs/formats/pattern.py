"""A pattern of the user's own: a regular expression with named groups."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line, find_clock
from hedgerow.logs.numbers import number, whole
from hedgerow.logs.observation import Observation
from hedgerow.wire import PHASE_STEP

GROUPS = ("step", "time", "phase", "loss", "step_seconds")


class Pattern(LineFormat):
    """Every line that the expression matches somewhere is progress. Raises ValueError with one sentence."""

    name = "pattern"

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError("the log pattern is no regular expression: %s" % error) from None
        unknown = sorted(set(self._pattern.groupindex) - set(GROUPS))
        if unknown or not {"step", "phase"} & set(self._pattern.groupindex):
            raise ValueError(
                "the log pattern needs a group (?P<step>…) or (?P<phase>…) and may have %s; it has %s"
                % (", ".join(GROUPS), ", ".join(sorted(self._pattern.groupindex)) or "no named group")
            )

    def read(self, line: Line) -> List[Observation]:
        found = self._pattern.search(line.text)
        if not found:
            return []
        said = found.groupdict()
        step = whole(_number(said.get("step")))
        values: Dict[str, float] = {}
        for name in (names.LOSS, names.STEP_SECONDS):
            amount = _number(said.get(name))
            if amount is not None:
                values[name] = amount
        time, zoned = _time(said.get("time"))
        if time is None:
            time, zoned = line.clock
        phase = said.get("phase") or PHASE_STEP
        return [self.say(line, step=step, phase=phase, boundary=True, finished=phase == PHASE_STEP, time=time,
                         zoned=zoned, values=values)]


def _number(text: Optional[str]) -> Optional[float]:
    try:
        return number(text) if text else None
    except ValueError:
        return None


def _time(text: Optional[str]) -> Tuple[Optional[float], bool]:
    seconds = _number(text)
    return (seconds, True) if seconds is not None else find_clock(text or "")
