"""The conditions of a job: Running, Stalled, Degraded, Succeeded, Failed, Suspended."""

from collections.abc import Iterable

from hedgerow_operator.api import conditions as kinds
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FALSE, TRUE, UNKNOWN, set_condition
from hedgerow_operator.api.status import Condition, Incident, Stopping, TrainingJobStatus
from hedgerow_operator.api.times import parse_optional_time
from hedgerow_operator.core import degraded, phrases
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.incidents import planned, stall_trouble
from hedgerow_operator.core.ladder import FAIL, SUSPEND, last_chance
from hedgerow_operator.core.nodes import avoided
from hedgerow_operator.core.resume import misfit
from hedgerow_operator.core.seen import WORKER_RUNNING, PlacementSeen
from hedgerow_operator.core.step import (
    ENDED,
    GATHERING,
    PLACING,
    REMOVING,
    RUNNING,
    STARTING,
    STOPPING,
    SUSPENDED,
    Context,
)
from hedgerow_operator.core.telling import acts_in, standstill
from hedgerow_operator.core.verdict import Kind, Verdict

# A pod that runs this long without any report is cut off, not slow.
NO_REPORTS_SECONDS = 60.0
NO_REPORTS_CAUSES = (
    "usual causes: a network policy that forbids egress to the operator or ingress at it, a service mesh whose proxy "
    "refuses it, a wrong chart value reportURL"
)
BLIND = "the place where the workers run cannot be asked; nothing is done meanwhile"

Said = tuple[str, str, str]  # status, reason, message


def conditions_for(context: Context, status: TrainingJobStatus) -> tuple[Condition, ...]:
    """The conditions after this status; lastTransitionTime kept where nothing changed."""
    conditions = context.status.conditions
    said: Iterable[tuple[str, Said]] = (
        (kinds.RUNNING, _running(context, status)),
        (kinds.STALLED, _stalled(context, status)),
        (kinds.DEGRADED, degraded.condition(context, status)),
        (kinds.SUCCEEDED, _succeeded(status)),
        (kinds.FAILED, _failed(status)),
        (kinds.SUSPENDED, _suspended(status)),
    )
    for kind, (value, reason, message) in said:
        new = Condition(type=kind, status=value, reason=reason, message=message,  # type: ignore[arg-type]
                        observed_generation=context.job.metadata.generation)
        conditions = set_condition(conditions, new, context.now)
    return tuple(conditions)


def failed(status: TrainingJobStatus) -> bool:
    """Whether an ended job failed."""
    return status.attempt_stage == ENDED and status.stopping is not None and status.stopping.action == FAIL


def _running(context: Context, status: TrainingJobStatus) -> Said:
    gang, stage = context.gang, status.attempt_stage
    if context.seen.placements is None and stage not in (ENDED, SUSPENDED):
        why = f": {context.seen.blind}" if context.seen.blind else ""
        return UNKNOWN, reasons.NOT_MEASURED, f"{BLIND}{why}"
    if stage == RUNNING:
        return _running_attempt(gang, status)
    return _not_running(context, status)


def _running_attempt(gang: Gang, status: TrainingJobStatus) -> Said:
    if gang.placement is not None and gang.placement.paused:
        return FALSE, reasons.SUSPENDED_OUTSIDE, gang.placement.paused
    if not gang.fresh:
        return UNKNOWN, reasons.REPORTS_LOST, "no launcher is heard; the ranks train on, nothing is done meanwhile"
    message = f"attempt {status.attempt}: {gang.sums.live} of {gang.expected} ranks run"
    if gang.sums.count and not gang.sums.live:
        message = f"attempt {status.attempt}: {phrases.ranks([rank.rank for rank in gang.ranks])} ended just now"
    if gang.silent:
        message += f"; {phrases.workers(gang.silent)} cannot be heard"
    if gang.sums.live < gang.sums.count:
        return TRUE, reasons.ENDING, message
    return TRUE, reasons.TRAINING, message


def _not_running(context: Context, status: TrainingJobStatus) -> Said:
    stage, plan = status.attempt_stage, status.stopping
    if stage == SUSPENDED or (stage in (STOPPING, REMOVING) and plan and plan.action == SUSPEND):
        return FALSE, reasons.SUSPENDED if stage == SUSPENDED else reasons.SUSPENDING, "suspended by spec.suspend"
    if stage == ENDED:
        return FALSE, plan.reason if failed(status) and plan else reasons.ALL_RANKS_FINISHED, "the job has ended"
    if stage == STOPPING:
        return FALSE, *_being_stopped(context, plan)
    if stage == REMOVING:
        return FALSE, reasons.FENCING, _leftovers(context.gang)
    if stage in (PLACING, GATHERING) and (parse_optional_time(status.next_start_at) or 0.0) > context.now:
        return FALSE, reasons.BACKING_OFF, f"attempt {status.attempt} starts at {status.next_start_at} at the earliest"
    if stage == STARTING:
        return FALSE, reasons.STARTING, f"the ranks of attempt {status.attempt} are being started"
    return _waiting(context)


def _being_stopped(context: Context, plan: Stopping | None) -> tuple[str, str]:
    """Nothing is called a restart that may be the end of the job."""
    message = f"attempt {context.status.attempt} is being stopped: {plan.message if plan else ''}"
    if plan is None or plan.action == FAIL:
        return plan.reason if plan else reasons.RESTARTING, message
    if last_chance(context.job.spec, context.status, plan.counted, plan.started):
        return plan.reason, f"{message}; the job is given up unless there is a newer checkpoint"
    return reasons.RESTARTING, message


def _leftovers(gang: Gang) -> str:
    workers = gang.placement.workers if gang.placement else ()
    silent = [worker for worker in workers if worker.node_silent]
    if silent:
        nodes = ", ".join(sorted({worker.node for worker in silent}))
        return (
            f"{phrases.workers(worker.index for worker in silent)} on {nodes} cannot be asked and may still train; the "
            f"next attempt waits until its own fence has stopped it, or {_out(gang)}"
        )
    return f"waiting until {len(workers)} workers of the old placement are gone"


def _why_it_waits(placement: PlacementSeen) -> str:
    if placement.held:
        return reasons.JOB_HELD
    return reasons.NO_VALID_PLACEMENT if placement.hopeless else reasons.WAITING_FOR_WORKERS


def _out(gang: Gang) -> str:
    """What tells that nothing can run on a node."""
    if gang.placement is not None and gang.placement.slurm is not None:
        return "the node answers Slurm again or is powered down"
    return "the node is deleted or tainted out-of-service"


def _waiting(context: Context) -> Said:
    """Which worker is missing, and why."""
    gang = context.gang
    if context.seen.too_tight:
        nodes = ", ".join([entry.name for entry in context.status.excluded_nodes] or sorted(context.seen.avoided))
        return FALSE, reasons.EXCLUSION_TOO_TIGHT, f"without {nodes} there is no room: {context.seen.too_tight}"
    if gang.placement is not None and gang.placement.waiting:
        return FALSE, _why_it_waits(gang.placement), gang.placement.waiting
    unread = _unreadable(gang)
    if unread:
        return FALSE, reasons.NOT_MEASURED, unread
    wrong = [worker for worker in sorted(gang.fresh) if (report := gang.report(worker)) and misfit(gang, report)]
    if wrong:
        return FALSE, reasons.WAITING_FOR_WORKERS, _misfits(gang, wrong)
    if gang.strays:
        attempts = ", ".join(map(str, gang.strays))
        return FALSE, reasons.FENCING, f"ranks of attempt {attempts} are still heard; nothing starts beside them"
    mute = _mute(context)
    if mute:
        verbs = "runs but has" if len(mute) == 1 else "run but have"
        where = (gang.placement.report_url if gang.placement else "") or "this operator"
        message = f"{phrases.workers(mute)} {verbs} never reported to {where}; {NO_REPORTS_CAUSES}"
        return FALSE, reasons.NO_REPORTS, message
    details = [text for worker in gang.silent[:4] if (text := _why_missing(gang, worker))]
    missing = f"{len(gang.silent)} of {gang.workers} workers are missing" if gang.silent else _complete(context)
    return FALSE, reasons.WAITING_FOR_WORKERS, "; ".join(filter(None, [missing, *details, _may_not_use(context)]))


def _may_not_use(context: Context) -> str:
    """The scheduler's sentence says how many nodes have another name, and not why they are avoided."""
    placement = context.gang.placement
    if placement is None or not any(worker.unschedulable for worker in placement.workers):
        return ""
    return avoided.words(placement.avoided, context.status.excluded_nodes, context.seen.avoided)


def _mute(context: Context) -> list[int]:
    """Workers that have run for long and were never heard, although somebody listened."""
    if context.seen.listening_seconds < NO_REPORTS_SECONDS:
        return []
    return [
        worker.index for worker in (context.gang.placement.workers if context.gang.placement else ())
        if worker.phase == WORKER_RUNNING and context.gang.report(worker.index) is None
        and (worker.running_seconds or 0.0) >= NO_REPORTS_SECONDS
    ]


def _complete(context: Context) -> str:
    waiting = [
        worker for worker in range(context.gang.workers)
        if (report := context.gang.report(worker)) and not (report.checkpoints and report.checkpoints.quiet)
    ]
    if context.job.spec.checkpoint is None or not waiting:
        return "the gang is complete"
    return f"the gang is complete; {phrases.workers(waiting)} still looks at the checkpoints"


def _misfits(gang: Gang, wrong: list[int]) -> str:
    return (
        f"{phrases.workers(wrong)} was started for another number of workers or ranks than the {gang.workers} x "
        f"{gang.ranks_per_worker} of the spec; do not set HEDGEROW_WORKERS or HEDGEROW_NPROC in the template"
    )


def _why_missing(gang: Gang, worker: int) -> str:
    seen = gang.worker(worker)
    if seen is None:
        return f"worker {worker} does not exist yet"
    return f"worker {worker} {seen.unschedulable or seen.waiting or f'is {seen.phase}'}"


def _unreadable(gang: Gang) -> str:
    for worker in sorted(gang.fresh):
        report = gang.report(worker)
        if report is not None and report.checkpoints is not None and report.checkpoints.error:
            why = report.checkpoints.error
            return f"worker {worker} cannot read the checkpoint directory, so no start is chosen: {why}"
    return ""


def _stalled(context: Context, status: TrainingJobStatus) -> Said:
    incident, stage = status.incident, status.attempt_stage
    if incident is not None and incident.attempt == status.attempt and _stands(incident, stage):
        return TRUE, incident.reason, f"{incident.message}. {_what_is_done(context, incident, stage)}".strip()
    if stage not in (RUNNING, STARTING):
        return FALSE, reasons.NOT_MEASURED, "no attempt is running"
    verdict = standstill(context) or context.verdict
    if verdict.kind is Kind.HEALTHY:
        return FALSE, reasons.HEALTHY, verdict.message
    if verdict.kind is Kind.STALLED:
        return UNKNOWN, reasons.SUSPECT, f"{_since(context, verdict)}; {_what_comes(context, verdict)}"
    if verdict.kind is Kind.SUSPECT:
        return UNKNOWN, reasons.SUSPECT, _since(context, verdict)
    return UNKNOWN, verdict.reason, verdict.message


def _what_is_done(context: Context, incident: Incident, stage: str) -> str:
    """Where a standstill that was told of shows something else since, that is what it waits for."""
    if stage in (RUNNING, STARTING) and standstill(context) is None and context.verdict.kind is Kind.SUSPECT:
        return f"Since then: {context.verdict.message}"
    return incident.action


def _stands(incident: Incident, stage: str) -> bool:
    """Whether the incident is a standstill: while it is being ended, a rank that exited is a failure and no stall. In
    mode Observe the others still wait for it.
    """
    return stage in (RUNNING, STARTING) or (stage == STOPPING and incident.kind in reasons.STALL_KINDS)


def _since(context: Context, verdict: Verdict) -> str:
    return f"last progress at {phrases.clock(context.now - verdict.still_seconds)}: {verdict.message}"


def _what_comes(context: Context, verdict: Verdict) -> str:
    """Two evidences, none of them decisive: watched for as long as a restart would cost."""
    return planned(context, stall_trouble(context.gang, verdict), acts_in(context, verdict))


def _succeeded(status: TrainingJobStatus) -> Said:
    if status.attempt_stage == ENDED and not failed(status):
        return TRUE, reasons.ALL_RANKS_FINISHED, f"all ranks of attempt {status.attempt} ended with exit code 0"
    return FALSE, reasons.NOT_FINISHED, ""


def _failed(status: TrainingJobStatus) -> Said:
    if failed(status) and status.stopping is not None:
        return TRUE, status.stopping.reason, status.stopping.message
    return FALSE, reasons.NOT_FINISHED, ""


def _suspended(status: TrainingJobStatus) -> Said:
    if status.attempt_stage == SUSPENDED:
        return TRUE, reasons.SUSPENDED, "spec.suspend is true; set it to false to go on from the last valid checkpoint"
    return FALSE, reasons.NOT_SUSPENDED, ""
