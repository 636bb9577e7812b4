"""What of a job's change is worth a message to somebody who does not look. Pure."""

from collections.abc import Iterator

from msgspec import Struct

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FAILED, SUCCEEDED, SUSPENDED, find_condition, is_true
from hedgerow_operator.api.status import Degradation, Incident, TrainingJobStatus
from hedgerow_operator.core import phrases
from hedgerow_operator.core.step import RUNNING, STARTING

INCIDENT_OPENED = "IncidentOpened"
INCIDENT_CLOSED = "IncidentClosed"
DEGRADATION_OPENED = "DegradationOpened"
DEGRADATION_CLOSED = "DegradationClosed"
RESTARTED = "Restarted"
GAVE_UP = "GaveUp"
SUCCEEDED_NEWS = "Succeeded"


class News(Struct, frozen=True):
    """kind: one of those above. reason: one CamelCase word. sentence: for a person; ranks: those that are blamed."""

    kind: str
    reason: str
    sentence: str
    ranks: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()


def news(before: TrainingJobStatus, after: TrainingJobStatus) -> Iterator[News]:
    """What has happened between two statuses of one job. An incident is told when it opens and when it is over, however
    its wording changes in between; the end of the job is the end of its incident too.
    """
    over = is_true(after.conditions, SUCCEEDED) or is_true(after.conditions, FAILED)
    if before.incident is None and after.incident is not None:
        yield _opened(after.incident)
    if after.attempt > 1 and _starts(after) and not (before.attempt == after.attempt and _starts(before)):
        yield from _restarted(after)
    if before.incident is not None and after.incident is None and not over:
        yield _closed(before.incident, after)
    yield from _degradations(before, after, over)
    yield from _ends(before, after)


def _opened(incident: Incident) -> News:
    follows = f"; what follows: {incident.action}" if incident.action else ""
    guilty = f"; guilty: {phrases.ranks(incident.ranks)}" if incident.ranks else ""
    return News(
        INCIDENT_OPENED,
        incident.reason or incident.kind,
        f"{incident.message}{guilty}{follows}",
        incident.ranks,
        incident.evidence,
    )


def _closed(incident: Incident, after: TrainingJobStatus) -> News:
    if is_true(after.conditions, SUSPENDED):
        sentence = "the job was stopped"
    elif after.attempt > incident.attempt:
        sentence = f"attempt {after.attempt} trains again {_place(after)}"
    else:
        sentence = "progress came back by itself"
    return News(INCIDENT_CLOSED, incident.reason or incident.kind, sentence, incident.ranks)


def _starts(status: TrainingJobStatus) -> bool:
    """Whether the attempt has come so far that its checkpoint is chosen."""
    return status.attempt_stage in (STARTING, RUNNING)


def _restarted(after: TrainingJobStatus) -> Iterator[News]:
    last = after.history[-1] if after.history else None
    if last is None or last.reason != reasons.SUSPENDED:  # whoever stopped the job and goes on with it knows
        sentence = f"attempt {after.attempt} starts {_place(after)}"
        yield News(RESTARTED, last.reason if last else "", sentence, last.ranks if last else ())


def _place(status: TrainingJobStatus) -> str:
    return "from the beginning" if status.resume_step is None else f"from step {status.resume_step}"


def _degradations(before: TrainingJobStatus, after: TrainingJobStatus, over: bool) -> Iterator[News]:
    old, new = _by_name(before), _by_name(after)
    for name in new.keys() - old.keys():
        yield News(DEGRADATION_OPENED, new[name].reason, new[name].message, new[name].ranks)
    if not over:
        for name in old.keys() - new.keys():
            yield News(DEGRADATION_CLOSED, old[name].reason, f"no longer: {old[name].message}", old[name].ranks)


def _by_name(status: TrainingJobStatus) -> dict[str, Degradation]:
    return {degradation.name: degradation for degradation in status.degradations}


def _ends(before: TrainingJobStatus, after: TrainingJobStatus) -> Iterator[News]:
    for kind, name in ((SUCCEEDED, SUCCEEDED_NEWS), (FAILED, GAVE_UP)):
        condition = find_condition(after.conditions, kind)
        if condition and is_true(after.conditions, kind) and not is_true(before.conditions, kind):
            yield News(name, condition.reason, condition.message)
