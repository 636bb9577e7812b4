"""What ends an attempt besides a stall: ranks that exited, workers and nodes that are gone, preemption."""

import functools
from collections.abc import Mapping
from operator import attrgetter
from types import MappingProxyType

from msgspec import Struct

from hedgerow.wire import STAGE_STOPPED, STAGE_WAITING, STOP_FENCE, STOP_SIGNAL, RankReport
from hedgerow_operator.api import reasons
from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.exit_class import class_of_exit
from hedgerow_operator.core.fault_words import FaultKind
from hedgerow_operator.core.faults import fault_of, first_exit, is_consequence, same_on_all
from hedgerow_operator.core.gang import Gang, RankView
from hedgerow_operator.core.nodes.places import GPUPlace
from hedgerow_operator.core.seen import WORKER_FAILED, PlacementSeen, WorkerSeen

# Reports of other launchers about an earlier exit may still be on their way.
EXIT_SETTLE_SECONDS = 1.0
# Where a rank tells of a broken connection, the others are waited for this long: a launcher in calm is heard every 5 s.
LAST_WORDS_SECONDS = 10.0
OUT_OF_MEMORY = "OOMKilled"
# As a shell and the launcher say it: the command cannot be run, or does not exist.
CANNOT_RUN = (126, 127)

# What the place itself may say of an end: what is nobody's fault, and what is wanted.
_UNCOUNTED = frozenset({
    reasons.TIME_LIMIT_REACHED, reasons.PREEMPTED, reasons.REQUEUED, reasons.WORKER_LOST, reasons.CANCELLED_OUTSIDE,
    reasons.DEADLINE_EXCEEDED,
})
FINAL = frozenset({reasons.CANCELLED_OUTSIDE, reasons.DEADLINE_EXCEEDED})
_CLASSES = {
    reasons.NODE_LOST: FaultClass.HARDWARE,
    reasons.OUT_OF_MEMORY: FaultClass.APPLICATION,
    reasons.PLACEMENT_FAILED: FaultClass.UNKNOWN,
    reasons.WORKER_LOST: FaultClass.UNKNOWN,
}

_MAX_SAID = 200


class Trouble(Struct, frozen=True, kw_only=True):
    """Why the attempt cannot go on.

    in_place: the placement can still carry the next attempt. counted: the restart counts. node: where it happened.
    exclude: the node itself is the suspect at once. gpu: the one that failed, if it is known which. fault: application
    fault in one line. hopeless: a restart cannot help. final: it was ended by somebody who wants no other attempt.
    fault_class: what it is put down to. consequence: something else went first, elsewhere. settled: False while a
    better account may still arrive.
    """

    reason: str
    message: str
    ranks: tuple[int, ...] = ()
    node: str = ""
    in_place: bool = False
    counted: bool = True
    exclude: bool = False
    gpu: GPUPlace | None = None
    fault: str | None = None
    fault_class: FaultClass = FaultClass.UNKNOWN
    hopeless: bool = False
    final: bool = False
    consequence: bool = False
    settled: bool = True


def find_trouble(
    gang: Gang, starting: bool, running: bool, deadlines: Mapping[str, float] = MappingProxyType({})
) -> Trouble | None:
    """The first trouble that there is.

    starting: launchers were told to start the attempt; running: every one of them was seen to have done so.
    deadlines: seconds by phase; a phase that is not among them is never overdue.
    """
    begun = starting or running
    return (
        _placement_trouble(gang)
        or _worker_trouble(gang, begun, deadlines)
        or (_lost_ranks(gang) if running else None)
        or (_rank_trouble(gang) if begun else None)
    )


def _placement_trouble(gang: Gang) -> Trouble | None:
    placement = gang.placement
    if placement is None:
        return Trouble(reason=reasons.WORKER_LOST, message="the workers were removed by somebody else", counted=False)
    if placement.cause:
        return _told_by_place(placement, gang)
    if placement.ended == WORKER_FAILED and not any(worker.phase == WORKER_FAILED for worker in placement.workers):
        preempted = any(worker.disrupted for worker in placement.workers)
        # Failed pods stay; one that is going or gone was deleted, which is what failed the placement.
        deleted = any(worker.terminating for worker in placement.workers) or bool(_missing(gang))
        return Trouble(
            reason=reasons.PREEMPTED if preempted else reasons.WORKER_LOST if deleted else reasons.PLACEMENT_FAILED,
            message=f"the placement failed: {placement.ended_reason or 'no reason given'}",
            counted=not preempted and not deleted,
        )
    if placement.removing:
        return Trouble(reason=reasons.WORKER_LOST, message="somebody else is removing the workers", counted=False)
    return None


def _told_by_place(placement: PlacementSeen, gang: Gang) -> Trouble:
    """The place that ran it says why it has ended; which node was lost, by those that cannot be asked."""
    cause = placement.cause
    lost = [worker for worker in placement.workers if worker.node_silent or worker.node_gone]
    node = lost[0].node if cause == reasons.NODE_LOST and len({worker.node for worker in lost}) == 1 else ""
    return Trouble(
        reason=cause,
        message=placement.ended_reason,
        ranks=_ranks_of(gang, [worker.index for worker in lost]) if node else (),
        node=node,
        exclude=bool(node),
        counted=cause not in _UNCOUNTED,
        final=cause in FINAL,
        fault=cause if cause == reasons.OUT_OF_MEMORY else None,
        fault_class=_CLASSES.get(cause, FaultClass.SCHEDULER),
    )


def _worker_trouble(gang: Gang, begun: bool, deadlines: Mapping[str, float]) -> Trouble | None:
    """The strongest account first: when one worker fails, the others are often being removed because of it."""
    every = gang.placement.workers if gang.placement else ()
    workers = [worker for worker in every if worker.terminating or worker.disrupted or worker.node_gone
               or worker.node_silent or worker.phase == WORKER_FAILED]
    waited_for = functools.partial(_node_lost, deadlines=deadlines)
    for look in (waited_for, _preempted, _failed, _terminating):
        for worker in workers:
            found = look(gang, worker)
            if found:
                return found
    missing = _missing(gang)
    if missing and (begun or any(gang.report(index) is not None for index in missing)):
        return Trouble(
            reason=reasons.WORKER_LOST,
            message=f"{phrases.workers(missing)} was deleted",
            ranks=_ranks_of(gang, missing),
            counted=False,
        )
    return None


def _missing(gang: Gang) -> list[int]:
    there = frozenset([worker.index for worker in gang.placement.workers]) if gang.placement else frozenset()
    return [index for index in range(gang.workers) if index not in there]


def _node_lost(gang: Gang, worker: WorkerSeen, deadlines: Mapping[str, float]) -> Trouble | None:
    """A node that cannot be asked may still train. It counts as lost when its launcher is silent too, and the place has
    given the worker up, or the others show that it does not train: they are heard, and all stand still too long.
    """
    if not gang.listened or worker.index in gang.fresh:
        return None
    if not (worker.node_gone or (worker.node_silent and (worker.terminating or _missed(gang, deadlines)))):
        return None
    state = "is gone" if worker.node_gone else "cannot be asked"
    return Trouble(
        reason=reasons.NODE_LOST,
        message=f"node {worker.node} of {_name(worker)} {state}, its launcher is silent",
        ranks=gang.ranks_of(worker.index), node=worker.node, exclude=True, fault_class=FaultClass.HARDWARE,
    )


def _missed(gang: Gang, deadlines: Mapping[str, float]) -> bool:
    """Whether other launchers are heard, and the deadline of every rank of theirs has passed: a gang of long steps that
    goes on beyond our sight must not be taken for one that waits."""
    return bool(gang.fresh) and all(
        (rank.report.progress_age or 0.0) > deadlines.get(rank.report.phase, float("inf")) for rank in gang.live
    )


def _preempted(gang: Gang, worker: WorkerSeen) -> Trouble | None:
    if not (worker.disrupted and (worker.terminating or worker.phase == WORKER_FAILED)):
        return None
    return Trouble(reason=reasons.PREEMPTED, message=f"{_name(worker)} was preempted or evicted",
                   ranks=gang.ranks_of(worker.index), node=worker.node, counted=False,
                   fault_class=FaultClass.SCHEDULER)


def _failed(gang: Gang, worker: WorkerSeen) -> Trouble | None:
    if worker.phase != WORKER_FAILED or worker.terminating:
        return None
    return _failed_worker(worker, _name(worker), gang.ranks_of(worker.index))


def _terminating(gang: Gang, worker: WorkerSeen) -> Trouble | None:
    if not worker.terminating:
        return None
    return Trouble(reason=reasons.WORKER_LOST, message=f"{_name(worker)} is being deleted",
                   ranks=gang.ranks_of(worker.index), node=worker.node, counted=False)


def _name(worker: WorkerSeen) -> str:
    return f"worker {worker.index} ({worker.name})"


def _failed_worker(worker: WorkerSeen, name: str, ranks: tuple[int, ...]) -> Trouble:
    how = worker.exit_reason or "no reason given"
    code = "" if worker.exit_code is None else f", exit code {worker.exit_code}"
    said = f"; it said last: {worker.last_words}" if worker.last_words else ""
    return Trouble(
        reason=reasons.WORKER_LOST,
        message=f"{name} ended: {how}{code}{said}",
        ranks=ranks,
        node=worker.node,
        fault=OUT_OF_MEMORY if worker.exit_reason == OUT_OF_MEMORY else None,
        fault_class=FaultClass.APPLICATION if worker.exit_reason == OUT_OF_MEMORY else FaultClass.UNKNOWN,
    )


def _rank_trouble(gang: Gang) -> Trouble | None:
    return _stopped_itself(gang) or _exited_rank(gang)


def _stopped_itself(gang: Gang) -> Trouble | None:
    stopped = [
        heard.report for worker, heard in gang.launchers.items()
        if heard.report.stage == STAGE_STOPPED and heard.report.attempt == gang.attempt and worker in gang.fresh
    ]
    for report in sorted(stopped, key=attrgetter("worker")):
        worker = report.worker
        if report.stop_cause == STOP_FENCE:
            return Trouble(
                reason=reasons.RANKS_KILLED,
                message=f"worker {worker} heard neither the operator nor its gang and stopped its ranks",
                ranks=gang.ranks_of(worker), in_place=True,
                # A launcher that was stopped for long cannot tell on waking whether its attempt is still current.
                counted=gang.placement is None or not gang.placement.was_paused,
            )
        if report.stop_cause == STOP_SIGNAL:
            return Trouble(reason=reasons.WORKER_LOST, message=f"worker {worker} was told to terminate",
                           ranks=gang.ranks_of(worker), counted=False, settled=not _place_will_tell(gang))
    return None


def _place_will_tell(gang: Gang) -> bool:
    """Whether who had the workers terminated is told once their place says that they have ended: a person, the time
    limit, a job of higher priority.
    """
    return gang.placement is not None and gang.placement.slurm is not None and not gang.placement.removing


def _lost_ranks(gang: Gang) -> Trouble | None:
    """A launcher that has forgotten an attempt which it was running: it was itself restarted, its ranks are gone."""
    lost = [
        worker for worker, heard in sorted(gang.launchers.items())
        if heard.report.stage == STAGE_WAITING and worker in gang.fresh
    ]
    if not lost:
        return None
    return Trouble(reason=reasons.WORKER_LOST, message=f"the launcher of {phrases.workers(lost)} was restarted",
                   ranks=_ranks_of(gang, lost), in_place=True)


def _exited_rank(gang: Gang) -> Trouble | None:
    first = first_exit(gang.ranks, EXIT_SETTLE_SECONDS) if gang.sums.failed else None
    if first is None:
        return None
    if is_consequence(first.report):
        return _lost_connection(gang, first)
    everywhere = same_on_all(gang.ranks, gang.expected)
    fault = fault_of(first.report)
    all_ended = len(gang.ranks) == gang.expected and not gang.live
    return Trouble(
        reason=reasons.RANK_EXITED,
        message=f"every rank ended with the same exception: {everywhere}" if everywhere else _exit_message(first),
        ranks=() if everywhere else (first.rank,),
        node="" if everywhere else first.node,
        in_place=True,
        fault=everywhere or (fault.text if fault.kind is FaultKind.APPLICATION else None),
        fault_class=FaultClass.APPLICATION if everywhere else class_of_exit(first.report),
        hopeless=everywhere is not None or _cannot_run(first.report),
        settled=all_ended or max(rank.exited_seconds for rank in gang.ranks if rank.failed) >= EXIT_SETTLE_SECONDS,
    )


def _cannot_run(report: RankReport) -> bool:
    return report.exit_code in CANNOT_RUN and report.beats == 0


def _lost_connection(gang: Gang, first: RankView) -> Trouble:
    """Ranks that end because a connection broke are victims: of a rank that is not heard any more, of one that has
    ended well too soon, or of the network. Only where all the others live on is the one that ended the one to look at.
    """
    silent = [worker for worker in range(gang.workers)
              if gang.silence(worker) > first.exited_seconds - EXIT_SETTLE_SECONDS]
    guilty, why = _behind_it(gang, first, silent)
    nodes = {_node_of(gang, worker) for worker in {rank // gang.ranks_per_worker for rank in guilty}}
    return Trouble(
        reason=reasons.RANK_EXITED,
        message=f"{_exit_message(first)}; {why}",
        ranks=guilty,
        node=nodes.pop() if len(nodes) == 1 else "",
        in_place=not silent,
        consequence=True,
        fault_class=class_of_exit(first.report),
        settled=not silent or first.exited_seconds >= LAST_WORDS_SECONDS,
    )


def _behind_it(gang: Gang, first: RankView, silent: list[int]) -> tuple[tuple[int, ...], str]:
    """The ranks that are behind a broken connection, as far as it can be told, and why."""
    if silent:
        return _ranks_of(gang, silent), f"{phrases.workers(silent)} has not been heard since, so it may have gone first"
    well = [rank.rank for rank in gang.ranks if rank.exited and not rank.failed
            and rank.exited_seconds >= first.exited_seconds - EXIT_SETTLE_SECONDS]
    if well:
        return (), f"{phrases.ranks(well)} had ended with exit code 0, which closed the connections to it"
    if gang.live and len({rank.worker for rank in gang.ranks if rank.failed}) == 1:
        return (first.rank,), "the others live, so nobody else is known to have gone first"
    return (), "no rank is known to have gone first, so the network between them is the first suspect"


def _node_of(gang: Gang, worker: int) -> str:
    seen, report = gang.worker(worker), gang.report(worker)
    return (seen.node if seen else "") or (report.node if report else "")


def _exit_message(first: RankView) -> str:
    report = first.report
    how = f"by signal {report.exit_signal}" if report.exit_signal is not None else f"with code {report.exit_code}"
    step = f" at step {report.step}" if report.step is not None else ""
    said = fault_of(report).text or ("" if report.exit_signal is not None else _last_line(report))
    return f"rank {first.rank} exited {how}{step}" + (f": {said}" if said else "")


def _last_line(report: RankReport) -> str:
    """The last thing that the rank printed: without an exception it is the best account that there is."""
    lines = [line.strip() for line in report.output_tail if line.strip()]
    return lines[-1][:_MAX_SAID] if lines else ""


def _ranks_of(gang: Gang, workers: list[int]) -> tuple[int, ...]:
    return tuple(rank for worker in workers for rank in gang.ranks_of(worker))
