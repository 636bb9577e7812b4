"""MLPerf: `:::MLLOG {"time_ms": …, "event_type": …, "key": …, "value": …, "metadata": {…}}`, also behind a prefix."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.line import Line
from hedgerow.logs.numbers import values_of, whole
from hedgerow.logs.observation import PHASE_OUTSIDE, Observation
from hedgerow.wire import PHASE_EVAL, PHASE_STEP

_MARKER = ":::MLLOG"
_LOSSES = ("train_loss", "reduced_train_loss", "loss")
_ENDINGS = {"success": names.SUCCESS, "aborted": names.TARGET_MISSED}
_SETTINGS = {"global_batch_size": names.BATCH_SIZE, "max_sequence_length": names.SEQUENCE_LENGTH}


class MLPerf(LineFormat):
    """A unit of work is what the job logs finest: a loss, else a block, else an epoch.

    A step is step_num, step or samples_count, whichever the line has: one job keeps to one of them.
    """

    name = "mlperf"
    markers = (_MARKER.encode(),)

    def __init__(self) -> None:
        self._decoder = json.JSONDecoder()
        self._fine = False
        self._epoch_open = False
        self._evaluating = False

    def read(self, line: Line) -> List[Observation]:
        said: List[Observation] = []
        at = line.text.find(_MARKER)
        while at >= 0:
            fields = self._fields(line.text, at + len(_MARKER))
            if fields:
                said.append(self._event(line, fields))
            at = line.text.find(_MARKER, at + len(_MARKER))
        return said

    def _fields(self, text: str, at: int) -> Dict[str, Any]:
        start = text.find("{", at)
        try:
            fields, _end = self._decoder.raw_decode(text, start if start >= 0 else at)
        except (ValueError, RecursionError):
            return {}
        return fields if isinstance(fields, dict) and isinstance(fields.get("key"), str) else {}

    def _event(self, line: Line, fields: Dict[str, Any]) -> Observation:
        metadata = fields.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        millis = whole(fields.get("time_ms"))
        what = self._meaning(fields["key"], fields.get("value"), metadata)
        what.setdefault("step", _step(metadata))
        if what.get("ending"):
            what["text"] = "run_stop with status %s" % metadata.get("status")
        return self.say(line, time=None if millis is None else millis / 1000.0, zoned=True, **what)

    def _meaning(self, key: str, value: Any, metadata: Dict[str, Any]) -> Dict[str, Any]:
        handler = getattr(self, "_" + key, None) if key in _KEYS else None
        if handler:
            meaning: Dict[str, Any] = handler(value, metadata)
            return meaning
        return {"values": values_of({_SETTINGS[key]: value}) if key in _SETTINGS else {}}

    def _run_start(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        return _begin(PHASE_STEP)

    def _run_stop(self, _value: Any, metadata: Dict[str, Any]) -> Dict[str, Any]:
        status = str(metadata.get("status", "")).lower()
        return {"boundary": True, "phase": PHASE_OUTSIDE, "ending": _ENDINGS.get(status)}

    def _epoch_start(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        self._epoch_open = True
        return _begin(PHASE_STEP)

    def _epoch_stop(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        self._epoch_open = False
        return self._unit(PHASE_OUTSIDE)

    def _block_start(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        return _begin(PHASE_STEP)

    def _block_stop(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        if self._epoch_open or self._evaluating:
            return {"boundary": True}
        return self._unit(PHASE_OUTSIDE)

    def _train_loss(self, value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        self._fine = True
        return {"boundary": True, "finished": True, "phase": PHASE_STEP, "values": values_of({names.LOSS: value})}

    def _tracked_stats(self, value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        stats = value if isinstance(value, dict) else {}
        values = values_of(stats)
        if "throughput" in stats:  # a summary of a block that has ended already
            return {"values": values}
        if "validation_step_time" in stats:
            return {"boundary": True}
        if any(name in stats for name in _LOSSES):
            self._fine = True
            return {"boundary": True, "finished": True, "phase": PHASE_STEP, "values": values}
        return {"values": values}

    def _eval_start(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        self._evaluating = True
        return _begin(PHASE_EVAL)

    def _eval_stop(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        self._evaluating = False
        return _begin(PHASE_STEP if self._epoch_open else PHASE_OUTSIDE)

    def _eval_accuracy(self, _value: Any, _metadata: Dict[str, Any]) -> Dict[str, Any]:
        return {"boundary": True, "finished": not self._evaluating and not self._fine}

    def _unit(self, phase: str) -> Dict[str, Any]:
        return {"boundary": True, "finished": not self._fine, "phase": phase}


_KEYS = frozenset({
    "run_start", "run_stop", "epoch_start", "epoch_stop", "block_start", "block_stop", "train_loss", "tracked_stats",
    "eval_start", "eval_stop", "eval_accuracy",
})


def _begin(phase: str) -> Dict[str, Any]:
    return {"boundary": True, "phase": phase}


def _step(metadata: Dict[str, Any]) -> Optional[int]:
    for name in ("step_num", "step", "samples_count"):
        step = whole(metadata.get(name))
        if step is not None:
            return step
    return None
