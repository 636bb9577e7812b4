"""What people are told of a node as events: from what was stored of it to what is stored now."""

from hedgerow_operator.api import gpu_node, reasons
from hedgerow_operator.api.conditions import TRUE, find_condition
from hedgerow_operator.api.gpu_node import GPUNodeStatus
from hedgerow_operator.core.plan import Event


def events(before: GPUNodeStatus, after: GPUNodeStatus) -> tuple[Event, ...]:
    """Events of a write that changed ``before`` into ``after``; none for what was told already."""
    told = (_quarantine(before, after), _degraded(before, after))
    return tuple(event for event in told if event is not None)


def _quarantine(before: GPUNodeStatus, after: GPUNodeStatus) -> Event | None:
    old, new = before.quarantine, after.quarantine
    if new is not None:
        alike = old is not None and (old.since, old.reason, old.gpus) == (new.since, new.reason, new.gpus)
        message = f"new attempts avoid this node: {new.message or new.reason}"
        return None if alike else Event(reason=reasons.QUARANTINED, message=message, warning=True)
    if old is None:
        return None
    why = (
        f"{old.reason} has not been seen since {old.cleared_at}"
        if old.cleared_at
        else f"its agent has been silent for so long that what is known of {old.reason} is too old"
    )
    return Event(reason=reasons.RELEASED, message=f"new attempts may use this node again: {why}")


def _degraded(before: GPUNodeStatus, after: GPUNodeStatus) -> Event | None:
    old, new = (find_condition(status.conditions, gpu_node.DEGRADED) for status in (before, after))
    if new is None or new.status != TRUE:
        return None
    if old is not None and (old.status, old.reason) == (TRUE, new.reason):
        return None
    return Event(reason=reasons.DEGRADED, message=new.message, warning=True)
