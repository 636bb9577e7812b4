"""Lines of PyTorch's NCCL watchdog and heartbeat monitor, from 1.x to 2.9.

Wordings: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp of those versions.
"""

import re
from typing import Any

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent, shortened
from hedgerow_operator.core.attribution.log.speaker import Speaker

_WORK = re.compile(
    r"WorkNCCL\((?:SeqNum=(?P<seq>\d{1,18}), )?OpType=(?P<op>\w+)(?:, TensorShape=\[[\d, ]*\])?"
    r"(?:, NumelIn=(?P<into>\d{1,18}), NumelOut=(?P<out>\d{1,18}))?(?:, Timeout\(ms\)=(?P<timeout>\d{1,18}))?\)"
    r"(?: ran for (?P<ran>\d{1,18}) milliseconds)?"
)
_PROGRESS = re.compile(
    r"(?:(?:Timeout at NCCL|detected by watchdog at) work(?: sequence id)?: (?P<at>\d{1,18}),? (?:PG status: )?)?"
    r"[Ll]ast enqueued (?:NCCL )?work: (?P<enqueued>-?\d{1,18}), "
    r"last completed (?:NCCL )?work: (?P<completed>-?\d{1,18})"
)
_DUMP = re.compile(r"[Rr]eceived a (?:dump signal|global timeout)|[Oo]bserved flight recorder dump signal")
_DUMP_FROM = re.compile(r"from\s+rank\s+(\d{1,6})")
_STUCK = re.compile(
    r"watchdog got stuck for (?P<seconds>\d{1,9}) seconds|Heartbeat monitor timed out"
    r"|Terminating the process after attempting to dump debug info|watchdog hang\b"
)
_INTERPRETER_LOCK = re.compile(r"Could not acquire GIL within")
# Collectives this early are those of set-up: the first barrier, the broadcast of the weights.
STARTUP_COLLECTIVES = 8
# Each line that matters here holds one of these; looking for them costs less than the patterns.
_WORDS = ("NCCL", "atchdog", "dump", "global timeout", "GIL", "eartbeat")
_GATHERS = ("_ALLGATHER_BASE", "ALLGATHER", "ALLGATHER_BASE")
_SCATTERS = ("_REDUCE_SCATTER_BASE", "REDUCE_SCATTER", "REDUCE_SCATTER_BASE")

# A line with one of these and no full message may be the first part of a wrapped one.
BEGINNINGS = ("ProcessGroupNCCL", "Watchdog caught", "WorkNCCL(")


def watchdog_event(text: str, speaker: Speaker, line: int) -> LogEvent | None:
    """The event that a whole message of the watchdog tells of."""
    if not any(word in text for word in _WORDS):
        return None
    work, progress = _WORK.search(text), _PROGRESS.search(text)
    if _DUMP.search(text):
        return _event(
            EventKind.DUMP_SIGNAL, text, speaker, line, _seq(None, progress), None, _relayed(text, speaker, progress)
        )
    if work and ("imeout" in text or "timed out" in text or "timing out" in text):
        details = _measures(work) | _progress(progress)
        return _event(EventKind.WATCHDOG_TIMEOUT, text, speaker, line, _seq(work, progress), work["op"], details)
    if progress and progress["at"] is not None:
        return _event(EventKind.WATCHDOG_TIMEOUT, text, speaker, line, _seq(None, progress), None, _progress(progress))
    if _INTERPRETER_LOCK.search(text):
        return _event(EventKind.WATCHDOG_STUCK, text, speaker, line, None, None, {"interpreterLockHeld": True})
    if stuck := _STUCK.search(text):
        details = {"stuckMillis": int(stuck["seconds"]) * 1000} if stuck["seconds"] else {}
        return _event(EventKind.WATCHDOG_STUCK, text, speaker, line, None, None, details)
    return None


def _event(
    kind: EventKind, text: str, speaker: Speaker, line: int, seq: int | None, op: str | None, details: dict[str, Any]
) -> LogEvent:
    if speaker.time is not None:
        details = details | {"time": speaker.time}
    if seq is not None and seq <= STARTUP_COLLECTIVES:
        details = details | {"startup": True}
    if speaker.best_rank is not None and not speaker.sure:
        details = details | {"rankIsWithinGroup": True}
    if speaker.is_default is not None:
        details = details | {"defaultGroup": speaker.is_default}
    held = "interpreterLockHeld" in details
    return LogEvent(
        kind=kind,
        rank=speaker.best_rank,
        group=speaker.group,
        op=op,
        seq=seq,
        line=line,
        fault_class=FaultClass.APPLICATION if held else FaultClass.UNKNOWN,
        text=shortened(text),
        details=details,
    )


def _seq(work: re.Match[str] | None, progress: re.Match[str] | None) -> int | None:
    """Where the rank stands: one past what it completed, never what it enqueued last."""
    if work and work["seq"]:
        return int(work["seq"])
    if progress is None:
        return None
    return int(progress["at"]) if progress["at"] else int(progress["completed"]) + 1


def _progress(progress: re.Match[str] | None) -> dict[str, Any]:
    if progress is None:
        return {}
    return {"lastEnqueued": int(progress["enqueued"]), "lastCompleted": int(progress["completed"])}


def _relayed(text: str, speaker: Speaker, progress: re.Match[str] | None) -> dict[str, Any]:
    origin = _DUMP_FROM.search(text)
    rank = int(origin[1]) if origin else speaker.rank if "from this local rank" in text else None
    return _progress(progress) | ({} if rank is None else {"from": rank})


def _measures(work: re.Match[str]) -> dict[str, Any]:
    measures: dict[str, Any] = {}
    for name, part in (("ranMillis", "ran"), ("timeoutMillis", "timeout")):
        if work[part]:
            measures[name] = int(work[part])
    size = _group_size(work)
    return measures | ({"groupSize": size} if size else {})


def _group_size(work: re.Match[str]) -> int | None:
    """Gathering multiplies the elements by the ranks of the group, reducing and scattering divides them."""
    if not work["into"] or not int(work["into"]) or not int(work["out"]):
        return None
    into, out = int(work["into"]), int(work["out"])
    if work["op"] in _GATHERS and out % into == 0:
        return out // into
    if work["op"] in _SCATTERS and into % out == 0:
        return into // out
    return None
