"""What one Slurm job looks like to the decisions: a placement whose workers are its nodes. Pure."""

from collections.abc import Mapping, Set

from msgspec import Struct

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import SlurmJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.seen import (
    WORKER_FAILED,
    WORKER_PENDING,
    WORKER_RUNNING,
    WORKER_SUCCEEDED,
    WORKER_UNKNOWN,
    PlacementSeen,
    WorkerSeen,
)
from hedgerow_operator.core.slurm.hostlist import compress
from hedgerow_operator.core.slurm.node_facts import FINE, NodeFacts
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_table import Kind
from hedgerow_operator.core.slurm.states import Meaning

_NOT_PLACED = (Kind.WAITING, Kind.HELD)
_PHASES = {Kind.STARTING: WORKER_PENDING, Kind.ALIVE: WORKER_RUNNING, Kind.ENDING: WORKER_RUNNING}


class Run(Struct, frozen=True, kw_only=True):
    """One placement as a job of Slurm.

    asked: we have asked it to end. ours: its cancellation was our doing. forced: workers that are not waited for.
    too_few: the nodes that it avoids leave it too few. put_back: it waits again while its launchers were told to train.
    was_paused: somebody had suspended it.
    """

    attempt: int
    job: SlurmJob
    meaning: Meaning
    asked: bool = False
    ours: bool = False
    forced: Set[str] = frozenset()
    too_few: bool = False
    put_back: bool = False
    was_paused: bool = False


def placement_seen(run: Run, facts: Mapping[str, NodeFacts], workers: int, now: float) -> PlacementSeen:
    """facts: of the nodes of the job, as far as they are known. now: epoch seconds."""
    job, meaning = run.job, run.meaning
    over = meaning.kind is Kind.ENDED
    waits = meaning.kind in _NOT_PLACED and not run.put_back
    seen = tuple(_worker(run, index, facts, now) for index in range(workers))
    return PlacementSeen(
        attempt=run.attempt,
        workers=tuple(worker for worker in seen if worker.name not in run.forced),
        removing=run.asked or meaning.stuck,
        ended="" if not over else WORKER_SUCCEEDED if meaning.well else WORKER_FAILED,
        ended_reason=meaning.message,
        age_seconds=max(0.0, now - (job.submitted_at or now)),
        avoided=job.excluded,
        cause=reasons.REQUEUED if run.put_back else _cause(run) if over and not meaning.well else "",
        waiting=meaning.message if waits else "",
        held=waits and meaning.kind is Kind.HELD,
        hopeless=waits and meaning.hopeless,
        paused=meaning.message if meaning.paused else "",
        was_paused=run.was_paused,
        slurm=SlurmJobStatus(
            job_id=job.id,
            placement=run.attempt,
            state="+".join([job.state, *sorted(job.flags)]),
            reason="" if job.reason.lower() in ("", "none") else job.reason,
            submitted_at=None if job.submitted_at is None else format_time(job.submitted_at),
            nodes=compress(job.nodes),
        ),
    )


def is_gone(run: Run, facts: Mapping[str, NodeFacts], workers: int) -> bool:
    """Whether nothing of it can be alive: it has ended, and every node answers or is not waited for."""
    if run.meaning.kind is not Kind.ENDED:
        return False
    names = [_name(run.job, index) for index in range(workers) if _fact(run.job, index, facts).silent]
    return all(name in run.forced for name in names)


def _worker(run: Run, index: int, facts: Mapping[str, NodeFacts], now: float) -> WorkerSeen:
    job, meaning = run.job, run.meaning
    node = job.nodes[index] if index < len(job.nodes) else ""
    fact = _fact(job, index, facts)
    phase = _PHASES.get(meaning.kind, WORKER_PENDING)
    if meaning.kind is Kind.UNKNOWN or run.put_back:
        phase = WORKER_UNKNOWN
    elif meaning.kind is Kind.ENDED:
        phase = WORKER_UNKNOWN if fact.silent else WORKER_SUCCEEDED if meaning.well else WORKER_FAILED
    started = job.started_at if meaning.kind in (Kind.ALIVE, Kind.ENDING) else None
    return WorkerSeen(
        index=index,
        name=_name(job, index),
        phase=phase,
        node=node,
        unschedulable=meaning.message if run.too_few and meaning.kind is Kind.WAITING else "",
        waiting=meaning.message if meaning.kind in (*_NOT_PLACED, Kind.STARTING) else "",
        terminating=run.asked or meaning.stuck or (fact.silent and meaning.kind is Kind.ENDED),
        node_silent=fact.silent and meaning.kind not in _NOT_PLACED,
        node_gone=fact.out and meaning.kind not in _NOT_PLACED,
        running_seconds=None if started is None else max(0.0, now - started),
        exit_reason=meaning.message if phase == WORKER_FAILED else "",
    )


def _name(job: SlurmJob, index: int) -> str:
    return f"{job.id}.{job.nodes[index]}" if index < len(job.nodes) else f"{job.id}.{index}"


def _fact(job: SlurmJob, index: int, facts: Mapping[str, NodeFacts]) -> NodeFacts:
    return facts.get(job.nodes[index], FINE) if index < len(job.nodes) else FINE


def _cause(run: Run) -> str:
    """Why it failed. What we have ended ourselves was ended by nobody else; an ordinary failure is the placement's."""
    cause = run.meaning.cause or reasons.PLACEMENT_FAILED
    return reasons.WORKER_LOST if run.ours and cause == reasons.CANCELLED_OUTSIDE else cause
