"""Lines of launchers, schedulers and kernels about processes that ended."""

import re
import signal
from collections.abc import Iterator
from typing import Any

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent, shortened
from hedgerow_operator.core.attribution.log.speaker import Speaker

_SRUN = re.compile(r"srun: error: (?P<node>[\w.\-]{1,253}): tasks? (?P<tasks>[\d,\-]{1,4000}): (?P<how>.+)")
_CANCELLED = re.compile(r"\*\*\* (?:STEP|JOB) \S+ ON (?P<node>\S+) CANCELLED AT \S+(?: DUE TO (?P<why>[A-Z ]+))?")
_MPI = re.compile(
    r"process rank (?P<rank>\d{1,6}) with PID \d+ on node (?P<node>\S+) exited on signal (?P<signal>\d{1,3})"
)
_ELASTIC = re.compile(r"failed \(exitcode: (?P<code>-?\d{1,3})\) local_rank: (?P<local>\d{1,5})")
_DEEPSPEED = re.compile(r"exits with return code = (?P<code>-?\d{1,3})")
_EXIT_CODE = re.compile(r"[Ee]xit(?:ed)?(?: with)? (?:exit )?code:? (?P<code>-?\d{1,3})")
_TERMINATED = re.compile(r"[Rr]eceived SIGTERM|got signal: 15\b|^Terminated$|Signal 15 \(SIGTERM\) received")
_CRASH = re.compile(
    r"^(?:Killed|Segmentation fault|Bus error|Aborted|Floating point exception|Illegal instruction)\b(?! by signal)"
    r"|Fatal Python error: (?P<python>Segmentation fault|Bus error|Aborted|Illegal instruction)"
)
# What CPython's Modules/main.c and runpy say of a program that is not there, without a traceback.
_NO_PROGRAM = re.compile(r"^(?:\S*/)?python[\d.]*: (?:can't open file |No module named )")
_WORDS = {
    "Killed": signal.SIGKILL,
    "Terminated": signal.SIGTERM,
    "Segmentation fault": signal.SIGSEGV,
    "Bus error": signal.SIGBUS,
    "Aborted": signal.SIGABRT,
    "Floating point exception": signal.SIGFPE,
    "Illegal instruction": signal.SIGILL,
}
_PROGRAM = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE)
_SHELL_BASE = 128
# As a shell says it: the command cannot be run, or does not exist.
_CANNOT_RUN = (126, 127)
# Each line that matters here holds one of these; looking for them costs less than the patterns.
_WORDS_OF_LINES = ("srun: error", "CANCELLED", "exited on signal", "exitcode", "return code", "SIGTERM", "got signal",
                   "Fatal Python", "can't open file", "No module named", *_WORDS)  # fmt: skip
# More tasks than this in one line of srun say no more than that all ended.
_MAX_TASKS = 65536


def exit_events(text: str, words: str, speaker: Speaker, line: int) -> Iterator[LogEvent]:
    """The ends of processes that one line tells of."""
    if not any(word in text for word in _WORDS_OF_LINES):
        return
    if found := _SRUN.search(text):
        yield from _tasks(found, line, text)
    elif found := _CANCELLED.search(text):
        yield _cancelled(found, line, text)
    elif found := _MPI.search(text):
        details = {"node": found["node"]}
        yield exit_event(int(found["rank"]), -int(found["signal"]), line, text, details)
    elif found := _ELASTIC.search(text):
        yield exit_event(None, int(found["code"]), line, text, {"localRank": int(found["local"])})
    elif found := _DEEPSPEED.search(text):
        yield exit_event(None, int(found["code"]), line, text, {})
    elif _NO_PROGRAM.search(words):
        yield LogEvent(kind=EventKind.EXCEPTION, rank=speaker.rank, line=line, fault_class=FaultClass.APPLICATION,
                       text=shortened(words), details={"says": shortened(words)})  # fmt: skip
    elif _TERMINATED.search(words):
        yield exit_event(speaker.rank, -signal.SIGTERM, line, text, {})
    elif found := _CRASH.search(words):
        name = found["python"] or found[0]
        yield exit_event(speaker.rank, -_WORDS[name], line, text, {})


def exit_event(
    rank: int | None, code: int, line: int, text: str, details: dict[str, Any], consequence: bool = False
) -> LogEvent:
    """An end with a code: negative is a signal, as Python tells it; above 128 also, as shells do."""
    number = -code if code < 0 else code - _SHELL_BASE if code > _SHELL_BASE else 0
    named = number in signal.valid_signals()
    details = details | {"code": code} | ({"signal": signal.Signals(number).name} if named else {})
    return LogEvent(
        kind=EventKind.EXIT,
        rank=rank,
        line=line,
        fault_class=FaultClass.APPLICATION if number in _PROGRAM or code in _CANNOT_RUN else FaultClass.UNKNOWN,
        consequence=consequence or number == signal.SIGTERM,
        text=shortened(text),
        details=details,
    )


def _tasks(found: re.Match[str], line: int, text: str) -> Iterator[LogEvent]:
    how = found["how"]
    code = _EXIT_CODE.search(how)
    word = next((word for word in _WORDS if how.startswith(word)), None)
    if code is None and word is None and not how.startswith("Out Of Memory"):
        return
    details: dict[str, Any] = {"node": found["node"], "task": True}
    for task in _numbers(found["tasks"]):
        if how.startswith("Out Of Memory"):
            yield LogEvent(kind=EventKind.OUT_OF_MEMORY, rank=task, line=line, fault_class=FaultClass.APPLICATION,
                           text=shortened(text), details=details)  # fmt: skip
        else:
            number = int(code["code"]) if code else -_WORDS[word or ""]
            yield exit_event(task, number, line, text, details)


def _numbers(tasks: str) -> list[int]:
    """The numbers in ``0-3,5``."""
    numbers: list[int] = []
    for part in tasks.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            continue
        start, end = int(first), int(last or first)
        numbers += range(start, min(end, start + _MAX_TASKS) + 1)
    return numbers[:_MAX_TASKS]


def _cancelled(found: re.Match[str], line: int, text: str) -> LogEvent:
    why = (found["why"] or "").strip()
    broken = "NODE FAILURE" in why
    return LogEvent(
        kind=EventKind.EXIT,
        line=line,
        fault_class=FaultClass.HARDWARE if broken else FaultClass.SCHEDULER,
        text=shortened(text),
        details={"node": found["node"], "cancelled": True} | ({"why": why.lower()} if why else {}),
    )
