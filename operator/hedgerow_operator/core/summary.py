"""What people see: conditions, and the figures that are derived from what was observed."""

from typing import Any

import msgspec

from hedgerow.wire import PHASE_STEP
from hedgerow_operator.api.status import CheckpointStatus, Condition, RanksStatus, StepMillis, TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.checkpoints import choose
from hedgerow_operator.core.durations import Phases, quantile
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.ladder import FAIL, SUSPEND
from hedgerow_operator.core.ledger import goodput_percent, lost_seconds
from hedgerow_operator.core.report_conditions import conditions_for, failed
from hedgerow_operator.core.step import ENDED, RUNNING, STARTING, Context

_MILLIS = 1000
_MAX_MISSING = 10
_HOUR_SECONDS = 3600
# What a job that is being stopped for good is called meanwhile.
_ENDINGS = {FAIL: "Failing", SUSPEND: "Suspending"}
# Fields that follow the training itself: they alone are no reason for a write more often than every 10 s.
_FIGURES: dict[str, Any] = {
    "step": None, "step_millis": None, "ranks": None, "checkpoint": None, "goodput_percent": None,
    "lost_gpu_seconds": 0, "lost_cost_usd": None,
}


def summarize(context: Context, status: TrainingJobStatus) -> TrainingJobStatus:
    """``status`` with its figures, conditions, state and reason brought up to date."""
    replace, job = msgspec.structs.replace, context.job
    live = status.attempt_stage in (STARTING, RUNNING) and status.attempt == context.status.attempt
    status = replace(status, ranks=_ranks(context, status, live), checkpoint=_checkpoint(context) or status.checkpoint)
    if context.gang.placement is not None and context.gang.placement.slurm is not None:
        status = replace(status, slurm=context.gang.placement.slurm)
    lost = round(lost_seconds(status, context.now) * job.spec.ranks)
    status = replace(
        status,
        observed_generation=job.metadata.generation,
        goodput_percent=goodput_percent(status, context.now),
        lost_gpu_seconds=lost,
        lost_cost_usd=_cost(job.spec.cost.gpu_hour_usd, lost) if job.spec.cost else None,
    )
    conditions = conditions_for(context, status)
    shown = _shown(conditions, status)
    return replace(status, conditions=conditions, state=shown[0], reason=shown[1])


def worth_writing_now(old: TrainingJobStatus, new: TrainingJobStatus) -> bool:
    """Whether more than figures and wordings changed."""
    return _without_figures(old) != _without_figures(new)


def _without_figures(status: TrainingJobStatus) -> TrainingJobStatus:
    replace = msgspec.structs.replace
    conditions = tuple(replace(condition, message="") for condition in status.conditions)
    incident = status.incident and replace(status.incident, message="", evidence=())
    return replace(status, conditions=conditions, incident=incident, **_FIGURES)


def with_progress(status: TrainingJobStatus, gang: Gang, learned: Phases) -> TrainingJobStatus:
    """``status`` with the step that every rank of the attempt has reached, and its pace, as far as they are heard."""
    step = gang.step
    if step is None:
        return status
    return msgspec.structs.replace(
        status, step=max(step, status.resume_step or 0), step_millis=_pace(gang, learned) or status.step_millis
    )


def _pace(gang: Gang, learned: Phases) -> StepMillis | None:
    median = gang.sums.pace
    if median is None:
        return None
    tail = quantile(learned.get(PHASE_STEP, {}), 0.99)
    return StepMillis(median=round(median * _MILLIS), p99=round(max(tail, median) * _MILLIS))


def _ranks(context: Context, status: TrainingJobStatus, live: bool) -> RanksStatus:
    gang = context.gang
    if status.attempt_stage == ENDED and not failed(status):
        return RanksStatus(expected=gang.expected, reporting=0, summary=f"{gang.expected}/{gang.expected} done")
    reporting = gang.sums.live if live else 0
    missing = _missing(gang) if context.status.attempt_stage != ENDED else ()
    return RanksStatus(expected=gang.expected, reporting=reporting, missing=missing,
                       summary=f"{reporting}/{gang.expected}")


def _missing(gang: Gang) -> tuple[str, ...]:
    """Workers whose launcher is not heard, with the node where they should be."""
    names = []
    for worker in gang.silent[:_MAX_MISSING]:
        seen = gang.worker(worker)
        names.append(f"worker {worker}" + (f" on {seen.node}" if seen and seen.node else ""))
    return tuple(names)


def _checkpoint(context: Context) -> CheckpointStatus | None:
    gang = context.gang
    if len(gang.fresh) < gang.workers:
        return None
    scans = [report.checkpoints for worker in range(gang.workers) if (report := gang.report(worker))]
    whole = [scan for scan in scans if scan is not None and scan.error is None]
    chosen = choose(whole, context.status.bad_checkpoints).chosen if len(whole) == gang.workers else None
    if chosen is None:
        return None
    return CheckpointStatus(step=chosen.step, path=chosen.path, time=format_time(chosen.written), verified=True)


def _cost(gpu_hour: str, lost: int) -> str:
    return f"{float(gpu_hour) * lost / _HOUR_SECONDS:.2f}"


def _shown(conditions: tuple[Condition, ...], status: TrainingJobStatus) -> tuple[str, str]:
    """state and reason: the first of the telling conditions, else how far the attempt is."""
    by_type = {condition.type: condition for condition in conditions}
    for kind in ("Failed", "Succeeded", "Suspended"):
        if kind in by_type and by_type[kind].status == "True":
            return kind, by_type[kind].reason
    plan = status.stopping
    if plan is not None and plan.action in _ENDINGS:
        return _ENDINGS[plan.action], plan.reason
    running, stalled = by_type.get("Running"), by_type.get("Stalled")
    if stalled is not None and stalled.status == "True":
        return "Stalled", stalled.reason
    if running is None:
        return "", ""
    if running.status == "True":
        return "Running", _unusual(by_type) or running.reason
    if running.status == "Unknown":
        return "Unknown", running.reason
    if plan is not None and running.reason == plan.reason:
        return "Stopping", running.reason  # whether another attempt follows is not known yet
    return ("Recovering" if status.restarts or status.stopping else "Starting"), running.reason


def _unusual(by_type: dict[str, Condition]) -> str:
    """The reason why a job that runs is not as it should be; empty when it is."""
    for kind, value in (("Stalled", "Unknown"), ("Degraded", "True")):
        if kind in by_type and by_type[kind].status == value:
            return by_type[kind].reason
    return ""
