"""How a run ended, from what its output says. Success is durable: what is printed after it is tidying up."""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from hedgerow.logs import observation as says
from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.fault_words import FaultKind, classify

# Failures that a script may print and live through: they count once nothing follows.
FAILURES = frozenset({says.EXCEPTION, says.DEVICE_ERROR, says.CRASH, says.OUT_OF_MEMORY, says.EXIT, says.NODE_FAILED})
# Somebody or something else ended the run.
FROM_OUTSIDE = frozenset({says.CANCELLED, says.PREEMPTED, says.TIME_LIMIT, says.TERMINATED, says.STOPPED})
# What a program that has finished its training may still fail by; a signal or an exit code then is tidying up.
_AFTER_TRAINING = frozenset({says.EXCEPTION, says.DEVICE_ERROR, says.OUT_OF_MEMORY})
# The notes that say most about a failure come first.
_TELLING = (says.NODE_FAILED, says.DEVICE_ERROR, says.OUT_OF_MEMORY, says.EXCEPTION, says.CRASH, says.EXIT)
_CLASSES = {
    FaultKind.APPLICATION: FaultClass.APPLICATION,
    FaultKind.STORAGE: FaultClass.STORAGE,
    FaultKind.DEVICE: FaultClass.HARDWARE,
    FaultKind.CONSEQUENCE: FaultClass.NETWORK,
}
# Why an operator ends an attempt that did nothing wrong.
_WANTED = frozenset({"", reasons.SUSPENDING, reasons.SUSPENDED, reasons.PREEMPTED})
_NUMBERS = re.compile(r"\b(?:rank|pid|cuda:|device)\s*\d+|0x[0-9a-f]+", re.IGNORECASE)


class Outcome(StrEnum):
    """How a run ended. TRUNCATED: it made progress and its output stops. UNKNOWN: nothing can be told."""

    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    CANCELLED = "Cancelled"
    TIMED_OUT = "TimedOut"
    TRUNCATED = "Truncated"
    UNKNOWN = "Unknown"


class Note(Struct, frozen=True, kw_only=True):
    """One line about the end of the run, in the order of the output; ending: as in hedgerow.logs.observation.

    speaker: the prefix of the line, which tells processes apart where no rank is told.
    """

    ending: str
    text: str = ""
    rank: int | None = None
    speaker: str = ""


class Ended(Struct, frozen=True, kw_only=True):
    """The outcome, why, and for a failure its class, the ranks that it names, and whether a restart cannot help."""

    outcome: Outcome
    reason: str
    message: str
    fault_class: FaultClass = FaultClass.UNKNOWN
    ranks: tuple[int, ...] = ()
    hopeless: bool = False


def conclude(
    notes: Sequence[Note], progressed: bool, reached_last_step: bool = False, ranks: int | None = None
) -> Ended:
    """How the run ended. ``notes``: since the last progress. ``ranks``: how many there are, None: not known."""
    endings = [note.ending for note in notes]
    if says.SUCCESS in endings:
        return Ended(outcome=Outcome.SUCCEEDED, reason=reasons.ALL_RANKS_FINISHED, message="the job said success")
    if says.TARGET_MISSED in endings:
        return Ended(outcome=Outcome.SUCCEEDED, reason=reasons.TARGET_NOT_REACHED,
                     message="the run ended by itself below its target")
    trained = says.TRAINED in endings or reached_last_step
    deciding = [note for note in notes if note.ending in (_AFTER_TRAINING if trained else FAILURES | FROM_OUTSIDE)]
    if deciding:
        return _outside(notes, deciding[0]) or failure(deciding, ranks)
    if trained:
        return Ended(outcome=Outcome.SUCCEEDED, reason=reasons.ALL_RANKS_FINISHED, message="training came to its end")
    if progressed:
        return Ended(outcome=Outcome.TRUNCATED, reason=reasons.NOT_FINISHED,
                     message="the output stops after a step and does not say how the run ended")
    return Ended(outcome=Outcome.UNKNOWN, reason=reasons.NOT_MEASURED,
                 message="the output says neither of progress nor of an end")


def failure(notes: Sequence[Note], ranks: int | None = None) -> Ended:
    """What failed, from the failing lines (one at least)."""
    kind = next(ending for ending in _TELLING if any(note.ending == ending for note in notes))
    telling = [note for note in notes if note.ending == kind]
    named = tuple(sorted({note.rank for note in telling if note.rank is not None}))
    if kind == says.EXCEPTION:
        return _exception(telling, named, ranks)
    fault_class, words = {
        says.NODE_FAILED: (FaultClass.HARDWARE, "a node failed"),
        says.DEVICE_ERROR: (FaultClass.HARDWARE, "a device error"),
        says.OUT_OF_MEMORY: (FaultClass.APPLICATION, "out of memory"),
    }.get(kind, (FaultClass.UNKNOWN, "the process ended"))
    who = f" on {phrases.ranks(named) if named else _called(telling[0])}" if named or telling[0].speaker else ""
    return Ended(outcome=Outcome.FAILED, reason=reasons.RANK_EXITED, fault_class=fault_class, ranks=named,
                 message=f"{words}{who}: {telling[0].text}")


def _outside(notes: Sequence[Note], first: Note) -> Ended | None:
    """Ended from outside when that is what came first; a time limit is told after the signals that it sends."""
    if first.ending not in FROM_OUTSIDE:
        return None
    if first.ending == says.STOPPED:
        return _stopped(first.text)
    for ending, outcome, reason in (
        (says.TIME_LIMIT, Outcome.TIMED_OUT, reasons.TIME_LIMIT_REACHED),
        (says.NODE_FAILED, Outcome.FAILED, reasons.NODE_LOST),
        (says.PREEMPTED, Outcome.CANCELLED, reasons.PREEMPTED),
        (says.CANCELLED, Outcome.CANCELLED, reasons.CANCELLED),
    ):
        told = next((note for note in notes if note.ending == ending), None)
        if told and outcome is Outcome.FAILED:
            return failure([told])
        if told:
            return Ended(outcome=outcome, reason=reason, fault_class=FaultClass.SCHEDULER, message=told.text)
    ranks = {note.rank for note in notes if note.ending == says.TERMINATED and note.rank is not None}
    return Ended(outcome=Outcome.CANCELLED, reason=reasons.CANCELLED, fault_class=FaultClass.SCHEDULER,
                 message=f"{phrases.ranks(ranks) if ranks else 'the job'} received SIGTERM from outside")


def _called(note: Note) -> str:
    """Whoever says a line without a rank: by its prefix."""
    return f"the process {note.speaker.rstrip(':')}" if note.speaker else "the program"


def _stopped(reason: str) -> Ended:
    """By the operator, and it has started no other attempt."""
    message = f"the launcher was told to end the attempt{': ' if reason else ''}{reason}, and started no other"
    if reason == reasons.DEADLINE_EXCEEDED:
        return Ended(outcome=Outcome.TIMED_OUT, reason=reason, fault_class=FaultClass.SCHEDULER, message=message)
    if reason in _WANTED:
        return Ended(outcome=Outcome.CANCELLED, reason=reason or reasons.CANCELLED, fault_class=FaultClass.SCHEDULER,
                     message=message)
    known = reason if reason in reasons.INCIDENT_KINDS else reasons.CANCELLED
    return Ended(outcome=Outcome.FAILED, reason=known, message=message)


def _exception(notes: Sequence[Note], named: tuple[int, ...], ranks: int | None) -> Ended:
    """The same exception on several ranks is the program's own; a broken connection is a consequence of another's."""
    faults = [(note, classify(note.text)) for note in notes]
    causes = [entry for entry in faults if entry[1].kind is not FaultKind.CONSEQUENCE] or faults
    first, fault = causes[0]
    texts = {_NUMBERS.sub("…", note.text) for note, _fault in faults}
    sayers = {note.speaker if note.rank is None else note.rank for note in notes} - {""}
    if len(texts) == 1 and fault.kind is FaultKind.APPLICATION and len(sayers) >= max(2, (ranks or 0)):
        return Ended(outcome=Outcome.FAILED, reason=reasons.APPLICATION_FAULT, fault_class=FaultClass.APPLICATION,
                     hopeless=True, message=f"every rank ended with the same exception: {first.text}")
    guilty = (first.rank,) if first.rank is not None else ()
    who = f"{phrases.ranks(guilty) if guilty else _called(first)} ended"
    return Ended(outcome=Outcome.FAILED, reason=reasons.RANK_EXITED, ranks=guilty, message=f"{who} with {first.text}",
                 fault_class=_CLASSES.get(fault.kind, FaultClass.UNKNOWN))
