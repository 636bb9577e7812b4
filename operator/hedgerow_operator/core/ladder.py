"""What to do about a trouble: in place, a new placement, one without the suspect node, or give up."""

from hedgerow_operator.api import reasons
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.status import ExcludedNode, StopAction, Stopping, TrainingJobStatus
from hedgerow_operator.api.times import format_time, parse_time
from hedgerow_operator.core import phrases
from hedgerow_operator.core.trouble import Trouble

IN_PLACE: StopAction = "RestartInPlace"
NEW_PLACEMENT: StopAction = "NewPlacement"
SUSPEND: StopAction = "Suspend"
FAIL: StopAction = "Fail"

# Attempts in a row without a newer checkpoint before the place is suspected, and before the node is.
PLACE_SUSPECT_AFTER = 1
NODE_SUSPECT_AFTER = 2

# Evidence against a node, weakest first: what is given back first when the job finds no room. Nothing else ever is.
WEAK_EVIDENCE = (
    reasons.STARTUP_TIMEOUT,
    reasons.ENDING_TIMEOUT,
    reasons.RANKS_KILLED,
    reasons.NO_PROGRESS,
    reasons.RANK_EXITED,
    reasons.WORKER_LOST,
    reasons.RANK_STOPPED,
    reasons.NODE_LOST,
)


def respond(spec: TrainingJobSpec, status: TrainingJobStatus, trouble: Trouble, started: bool, now: float) -> Stopping:
    """How the current attempt ends and what comes after it."""
    action, reason, message = IN_PLACE, trouble.reason, trouble.message
    give_up = _give_up(spec, status, trouble, started)
    if give_up:
        action, (reason, message) = FAIL, give_up
    elif not trouble.in_place or status.no_progress >= PLACE_SUSPECT_AFTER:
        action = NEW_PLACEMENT
    return Stopping(
        action=action,
        reason=reason,
        message=message,
        since=format_time(now),
        kill=trouble.counted,
        counted=trouble.counted,
        started=started,
        fault=trouble.fault,
    )


def last_chance(spec: TrainingJobSpec, status: TrainingJobStatus, counted: bool, started: bool) -> bool:
    """Whether the job is given up unless the attempt that is being ended has left a newer checkpoint (without
    checkpoints: has made a step). That is seen only once nothing of it writes any more.
    """
    fruitless = spec.checkpoint is not None or status.step is None
    return counted and started and fruitless and status.no_progress + 1 >= spec.recovery.no_progress_limit


def exclude(spec: TrainingJobSpec, status: TrainingJobStatus, trouble: Trouble, now: float) -> tuple[ExcludedNode, ...]:
    """The excluded nodes after this trouble: expired ones leave, a suspect one enters while there is room."""
    kept = unexpired(status.excluded_nodes, now)
    again = trouble.counted and trouble.fault is None and _node_is_suspect(spec, status, trouble)
    suspect = trouble.exclude or again
    known = trouble.node in {entry.name for entry in kept}
    if not suspect or not trouble.node or known or len(kept) >= spec.recovery.exclude.max_nodes:
        return kept
    until = format_time(now + spec.recovery.exclude.ttl_seconds)
    return (*kept, ExcludedNode(name=trouble.node, reason=trouble.reason, until=until))


def unexpired(excluded: tuple[ExcludedNode, ...], now: float) -> tuple[ExcludedNode, ...]:
    """The exclusions that still hold."""
    return tuple(entry for entry in excluded if parse_time(entry.until) > now)


def give_back(excluded: tuple[ExcludedNode, ...]) -> ExcludedNode | None:
    """The exclusion with the weakest evidence; None when none may be given back."""
    weak = [entry for entry in excluded if entry.reason in WEAK_EVIDENCE]
    return min(weak, key=lambda entry: WEAK_EVIDENCE.index(entry.reason), default=None)


def backoff_seconds(spec: TrainingJobSpec, no_progress: int) -> float:
    """Waiting time before the next start: none after an attempt that left a newer checkpoint, then doubling."""
    if no_progress == 0:
        return 0.0
    backoff = spec.recovery.backoff
    return float(min(backoff.initial_seconds * 2 ** min(no_progress - 1, 30), backoff.max_seconds))


def jitter(uid: str, attempt: int) -> float:
    """A number in [0, 1) that differs from job to job, so that gangs that failed together do not retry together."""
    return sum((index + 1) * ord(letter) for index, letter in enumerate(f"{uid}/{attempt}")) % 997 / 997


def _node_is_suspect(spec: TrainingJobSpec, status: TrainingJobStatus, trouble: Trouble) -> bool:
    if status.no_progress >= NODE_SUSPECT_AFTER:
        return True
    # With so few tries the job would be given up before the node is: there it is left after a second time in a row.
    last = status.history[-1] if status.history else None
    few = spec.recovery.no_progress_limit <= NODE_SUSPECT_AFTER + 1
    return few and status.no_progress >= PLACE_SUSPECT_AFTER and last is not None and last.node == trouble.node


def _give_up(
    spec: TrainingJobSpec, status: TrainingJobStatus, trouble: Trouble, started: bool
) -> tuple[str, str] | None:
    if trouble.final:
        return trouble.reason, trouble.message
    if trouble.hopeless:
        return reasons.APPLICATION_FAULT, trouble.message
    if trouble.fault and _seen_before(status, trouble.fault):
        return reasons.APPLICATION_FAULT, _twice(status, trouble)
    limit = spec.recovery.max_restarts
    if trouble.counted and status.restarts_counted >= limit:
        message = f"recovery.maxRestarts ({limit}) is reached; last trouble: {trouble.message}"
        return reasons.MAX_RESTARTS_EXCEEDED, message
    tries = status.restarts_counted + 1
    if trouble.counted and not started and not status.history and tries >= spec.recovery.no_progress_limit:
        return trouble.reason, f"{tries} times in a row it came to its end before a rank was started: {trouble.message}"
    return None


def _twice(status: TrainingJobStatus, trouble: Trouble) -> str:
    where = "before the first step" if status.step is None else f"at step {status.step}"
    who = f"{phrases.ranks(trouble.ranks)}: " if trouble.ranks else ""
    return f"{who}the same fault twice {where}: {trouble.fault}"


def _seen_before(status: TrainingJobStatus, fault: str) -> bool:
    """Whether the attempt before this one ended with the same fault at the same step."""
    last = status.history[-1] if status.history else None
    return last is not None and last.fault == fault and last.last_step == status.step
