"""Lines about memory that ran out, devices that failed, and exceptions that ended a process."""

import re

from hedgerow_operator.core import fault_words
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent, shortened
from hedgerow_operator.core.attribution.log.speaker import Speaker
from hedgerow_operator.core.fault_words import FaultKind

_KERNEL_MEMORY = re.compile(
    r"Out of memory: Killed process \d+|oom[-_]kill(?:er| event)|oom-kill:|OOMKilled|Memory cgroup out of memory"
    r"|oom_kill event"
)
# What "what():" tells after an uncaught C++ exception, and what Python raises for the same.
_CUDA = re.compile(r"CUDA error: (?P<what>[^\n]{1,200})|Cuda failure \d* ?'?(?P<nccl>[^'\n]{1,200})")
_CUDA_PROGRAM = re.compile(r"device-side assert|illegal memory access|misaligned address|invalid (?:argument|device)")
_CUDA_DEVICE = re.compile(r"unknown error|ECC|[Nn][Vv][Ll]ink|hardware|launch timed out")
# Xid numbers after which a device needs a reset or a person (NVIDIA's Xid catalogue).
_XID = re.compile(r"NVRM: Xid .*: (?:48|62|64|74|79|92|94|95|119|120|140)\b")
# Each line that matters here holds one of these; looking for them costs less than the patterns.
_WORDS = ("emory", "oom", "OOM", "CUDA", "Cuda", "fallen", "ncorrectable", "Xid")
_CLASSES = {
    FaultKind.APPLICATION: FaultClass.APPLICATION,
    FaultKind.STORAGE: FaultClass.STORAGE,
    FaultKind.DEVICE: FaultClass.HARDWARE,
    FaultKind.CONSEQUENCE: FaultClass.UNKNOWN,
    FaultKind.NONE: FaultClass.UNKNOWN,
}


def crash_event(text: str, words: str, speaker: Speaker, line: int, traceback: bool) -> LogEvent | None:
    """The event of a line that tells of a crash. traceback: one is open, so that an exception ends it."""
    if any(word in text for word in _WORDS) and (event := _said_outright(text, words, speaker, line, traceback)):
        return event
    exception = fault_words.exception_in(words) if traceback else None
    return None if exception is None else _exception(exception, text, speaker, line)


def _said_outright(text: str, words: str, speaker: Speaker, line: int, traceback: bool) -> LogEvent | None:
    if _KERNEL_MEMORY.search(text):
        return _event(EventKind.OUT_OF_MEMORY, FaultClass.APPLICATION, text, speaker, line, "host")
    if fault_words.MEMORY.search(text) and (traceback or "what()" in text or fault_words.exception_in(words)):
        of = "device" if "CUDA" in text or "OutOfMemoryError" in text else "host"
        return _event(EventKind.OUT_OF_MEMORY, FaultClass.APPLICATION, text, speaker, line, of)
    if found := _CUDA.search(text):
        return _event(EventKind.EXCEPTION, _of_device(found["what"] or found["nccl"]), text, speaker, line)
    if fault_words.DEVICE.search(text) or _XID.search(text):
        return _event(EventKind.EXCEPTION, FaultClass.HARDWARE, text, speaker, line)
    return None


def _exception(exception: str, text: str, speaker: Speaker, line: int) -> LogEvent | None:
    fault = fault_words.classify(exception)
    if fault.kind is FaultKind.NONE:
        return None
    return LogEvent(
        kind=EventKind.EXCEPTION,
        rank=speaker.rank,
        line=line,
        fault_class=_CLASSES[fault.kind],
        consequence=fault.kind is FaultKind.CONSEQUENCE,
        text=shortened(text),
        details={"says": fault.text} | _local(speaker),
    )


def _of_device(what: str) -> FaultClass:
    if _CUDA_PROGRAM.search(what):
        return FaultClass.APPLICATION
    return FaultClass.HARDWARE if _CUDA_DEVICE.search(what) else FaultClass.UNKNOWN


def _event(
    kind: EventKind, fault_class: FaultClass, text: str, speaker: Speaker, line: int, of: str | None = None
) -> LogEvent:
    return LogEvent(
        kind=kind,
        rank=speaker.rank,
        line=line,
        fault_class=fault_class,
        text=shortened(text),
        details=({"memoryOf": of} if of else {}) | _local(speaker),
    )


def _local(speaker: Speaker) -> dict[str, int]:
    return {} if speaker.local_rank is None else {"localRank": speaker.local_rank}
