"""What the findings of an agent come to: for each GPU, for the node, and what speaks against using it at all."""

from collections.abc import Iterable, Sequence

from hedgerow.wire_agent import (
    ACTION_INSPECT,
    ACTION_REBOOT,
    ACTION_RESET,
    ACTIONS,
    DEGRADED,
    EVENT_XID,
    FAILED,
    GPU_LOST,
    GPU_SILENT,
    HEALTHS,
    HEALTHY,
    NOT_MEASURED,
    AgentReport,
    Finding,
    GpuReport,
)
from hedgerow_operator.api.gpu_node import MAX_GPUS, GPUStatus, Xid
from hedgerow_operator.api.times import format_time

# What a node cannot be rid of while a job runs on it.
REPAIRS = {
    ACTION_RESET: "a reset of the GPU",
    ACTION_REBOOT: "a reboot of the node",
    ACTION_INSPECT: "an inspection by a person",
}
_MAX_SAID = 3


def fatal(report: AgentReport) -> tuple[Finding, ...]:
    """Findings for which nothing may be started on the node: what fails, and needs a reset, a reboot or a person."""
    return tuple(entry for entry in report.findings if entry.health == FAILED and entry.action in REPAIRS)


def worst(findings: Iterable[Finding]) -> Finding | None:
    """The finding that matters most; of those alike the one that asks for most, then the oldest."""
    return max(findings, key=_weight, default=None)


def about(findings: Iterable[Finding], gpu: int | None) -> list[Finding]:
    """The findings about this GPU; None: about the node as a whole."""
    return [entry for entry in findings if entry.gpu == gpu]


def sentence(findings: Sequence[Finding]) -> str:
    """The first few of them for a person, the worst first."""
    ordered = sorted(findings, key=_weight, reverse=True)
    said = [f"{f'GPU {entry.gpu}: ' if entry.gpu is not None else ''}{entry.message}" for entry in ordered[:_MAX_SAID]]
    more = len(ordered) - len(said)
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def drain_reason(report: AgentReport) -> str | None:
    """Why the node should be emptied and what it needs then, in words that do not change while the faults are alike."""
    needs = [entry for entry in report.findings if entry.health in (DEGRADED, FAILED) and entry.action in REPAIRS]
    first = worst(needs)
    if first is None:
        return None
    gpus = sorted({entry.gpu for entry in needs if entry.reason == first.reason and entry.gpu is not None})
    where = f" on GPU {', '.join(map(str, gpus))}" if gpus else ""
    return f"{first.reason}{where} asks for {REPAIRS[first.action]}"


def gpu_table(report: AgentReport, now: float) -> tuple[GPUStatus, ...]:
    """One entry for each GPU of the report, by index. now: seconds since the epoch."""
    gpus = {gpu.index: gpu for gpu in report.gpus}
    xids = last_xids(report, now)
    return tuple(
        _gpu(gpus[index], about(report.findings, index), xids.get(index)) for index in sorted(gpus)[:MAX_GPUS]
    )


def last_xids(report: AgentReport, now: float) -> dict[int, Xid]:
    """The last Xid of each GPU, by index, that is not over."""
    found = [event for event in report.events if event.kind == EVENT_XID and not event.recovered]
    told = sorted(found, key=lambda event: -event.age)
    return {
        event.gpu: Xid(code=event.code, since=format_time(now - event.first_age))
        for event in told
        if event.gpu is not None
    }


def _gpu(gpu: GpuReport, findings: list[Finding], xid: Xid | None) -> GPUStatus:
    found = worst(findings)
    state = {GPU_LOST: FAILED, GPU_SILENT: NOT_MEASURED}.get(gpu.state, HEALTHY)
    healths = [gpu.health, state] + ([found.health] if found else [])
    health = HEALTHS[max(map(_order, healths))]
    said = found is not None and health != HEALTHY
    return GPUStatus(
        index=gpu.index,
        uuid=gpu.uuid,
        pci=gpu.pci,
        name=gpu.name,
        health=health,  # type: ignore[arg-type]  # one of HEALTHS, by _order
        reason=found.reason if said and found else "" if health == HEALTHY else f"GPU{gpu.state}",
        message=found.message if said and found else "",
        xid=xid,
    )


def _order(health: str) -> int:
    """A word that this operator does not know says as little as NotMeasured."""
    return HEALTHS.index(health) if health in HEALTHS else HEALTHS.index(NOT_MEASURED)


def _weight(finding: Finding) -> tuple[int, int, float]:
    action = ACTIONS.index(finding.action) if finding.action in ACTIONS else len(ACTIONS)
    return _order(finding.health), action, finding.age
