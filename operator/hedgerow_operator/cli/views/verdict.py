"""How a job does, in one word. Pure."""

from hedgerow_operator.api import conditions as kinds
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import TRUE, UNKNOWN, find_condition, is_true
from hedgerow_operator.api.status import TrainingJobStatus

_SLOW = (reasons.SLOWER_THAN_BASELINE, reasons.SLOWER_THAN_PEERS, reasons.COMMUNICATION_SLOW)


def verdict_word(status: TrainingJobStatus) -> str:
    """Healthy, Slow, Degraded, Suspect, Stalled, Failed or NotMeasured; "" for a job that is not on its way."""
    conditions = status.conditions
    if is_true(conditions, kinds.FAILED):
        return "Failed"
    if is_true(conditions, kinds.SUCCEEDED) or is_true(conditions, kinds.SUSPENDED):
        return ""
    stalled = find_condition(conditions, kinds.STALLED)
    if stalled is not None and stalled.status == TRUE:
        return "Stalled"
    if status.incident is not None:
        return "Stalled" if status.incident.kind in reasons.STALL_KINDS else "Failed"
    if stalled is None or stalled.status == UNKNOWN:
        return "" if stalled is None else "Suspect" if stalled.reason == reasons.SUSPECT else "NotMeasured"
    return _of_one_that_goes_on(status) if is_true(conditions, kinds.RUNNING) else ""


def _of_one_that_goes_on(status: TrainingJobStatus) -> str:
    degraded = find_condition(status.conditions, kinds.DEGRADED)
    if degraded is None or degraded.status != TRUE:
        return "Healthy"
    return "Slow" if degraded.reason in _SLOW else "Degraded"
