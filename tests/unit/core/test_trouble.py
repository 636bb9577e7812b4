"""What ends an attempt besides a stall, and what only looks like it."""

import dataclasses
from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_SUCCEEDED, PlacementSeen
from hedgerow_operator.core.trouble import Trouble, find_trouble
from tests.unit.core.builders import exited, make_gang, make_rank, make_worker

GONE_QUIET = 60.0


def look(gang: Gang, *, starting: bool = True, running: bool = True) -> Trouble | None:
    """The trouble of a running attempt."""
    return find_trouble(gang, starting=starting, running=running, deadlines={"step": 60.0})


def gang_of(*ranks: wire.RankReport, worker: dict[str, Any], silent: bool = False, **placement: Any) -> Gang:
    """A gang of two workers, the second of which is as described; silent: its launcher is not heard."""
    workers = (make_worker(0), make_worker(1, **worker))
    heard = ranks or ((make_rank(0),) if silent else (make_rank(0), make_rank(1)))
    gang = make_gang(*heard, workers=workers, silent=(1,) if silent else ())
    if placement:
        gang = msgspec.structs.replace(gang, placement=PlacementSeen(attempt=1, workers=workers, **placement))
    return msgspec.structs.replace(gang, listening_seconds=GONE_QUIET)


WAITS = make_rank(0, progress_age=70.0)

WORKERS: dict[str, tuple[Gang, str | None, dict[str, Any]]] = {
    "all is well": (gang_of(worker={}), None, {}),
    "a silent node whose launcher is still heard is no trouble": (gang_of(worker={"node_silent": True}), None, {}),
    "a launcher that is silent on a node that answers is no trouble": (gang_of(worker={}, silent=True), None, {}),
    "a silent node whose launcher is silent too, and the others wait": (
        gang_of(WAITS, worker={"node_silent": True}, silent=True), reasons.NODE_LOST,
        {"exclude": True, "counted": True, "node": "node2", "ranks": (1,), "in_place": False}),
    "the same inside the deadline of a long step is no trouble: it may be training": (
        gang_of(make_rank(0, progress_age=55.0), worker={"node_silent": True}, silent=True), None, {}),
    "the same in a phase that nobody has a limit for is no trouble": (
        gang_of(make_rank(0, progress_age=999.0, phase="upload"), worker={"node_silent": True}, silent=True), None, {}),
    "the same while the others go on is no trouble: it must be training": (
        gang_of(make_rank(0, progress_age=1.0), worker={"node_silent": True}, silent=True), None, {}),
    "a silent node that the place has given up": (
        gang_of(make_rank(0), worker={"node_silent": True, "terminating": True}, silent=True), reasons.NODE_LOST, {}),
    "a deleted node whose launcher is silent": (
        gang_of(make_rank(0), worker={"node_gone": True}, silent=True), reasons.NODE_LOST, {"exclude": True}),
    "a deleted node whose launcher is heard is no trouble": (gang_of(worker={"node_gone": True}), None, {}),
    "an evicted worker": (
        gang_of(worker={"disrupted": True, "terminating": True}), reasons.PREEMPTED, {"counted": False, "fault": None}),
    "a worker that is to be evicted and still runs is no trouble": (gang_of(worker={"disrupted": True}), None, {}),
    "a worker that is being deleted": (gang_of(worker={"terminating": True}), reasons.WORKER_LOST, {"counted": False}),
    "a worker that has failed": (
        gang_of(worker={"phase": WORKER_FAILED, "exit_reason": "Error", "exit_code": 3}), reasons.WORKER_LOST,
        {"counted": True, "node": "node2", "message": "worker 1 (demo-1-1) ended: Error, exit code 3"}),
    "a worker whose launcher could not start: what it said last": (
        gang_of(worker={"phase": WORKER_FAILED, "exit_reason": "Error", "exit_code": 1, "last_words": "no such file"}),
        reasons.WORKER_LOST,
        {"message": "worker 1 (demo-1-1) ended: Error, exit code 1; it said last: no such file"}),
    "a worker that ran out of memory while it printed": (
        gang_of(worker={"phase": WORKER_FAILED, "exit_reason": "OOMKilled", "last_words": "step 5"}),
        reasons.WORKER_LOST, {"fault": "OOMKilled"}),
    "a worker that ran out of memory": (
        gang_of(worker={"phase": WORKER_FAILED, "exit_reason": "OOMKilled"}), reasons.WORKER_LOST,
        {"fault": "OOMKilled", "ranks": (1,)}),
    "a worker that has ended well is no trouble": (gang_of(worker={"phase": WORKER_SUCCEEDED}), None, {}),
    "a placement that somebody removes": (gang_of(worker={}, removing=True), reasons.WORKER_LOST, {"counted": False}),
    "a placement that failed by itself": (
        gang_of(worker={}, ended=WORKER_FAILED, ended_reason="DeadlineExceeded"), reasons.PLACEMENT_FAILED,
        {"counted": True, "message": "the placement failed: DeadlineExceeded"}),
    "a placement that failed because a worker was evicted": (
        gang_of(worker={"disrupted": True}, ended=WORKER_FAILED), reasons.PREEMPTED, {"counted": False}),
    "a placement that failed because a worker is being deleted": (
        gang_of(worker={"terminating": True}, ended=WORKER_FAILED), reasons.WORKER_LOST, {"counted": False}),
}


@pytest.mark.parametrize("case", WORKERS)
def test_workers(case: str) -> None:
    gang, reason, details = WORKERS[case]
    found = look(gang)
    assert (found.reason if found else None) == reason
    assert {name: getattr(found, name) for name in details} == details


def test_when_one_worker_failed_the_others_that_are_removed_because_of_it_are_not_the_reason() -> None:
    workers = (make_worker(0, terminating=True), make_worker(1, phase=WORKER_FAILED, exit_reason="OOMKilled"))
    found = look(make_gang(make_rank(0), make_rank(1), workers=workers))
    assert found is not None
    assert (found.ranks, found.counted, found.fault) == ((1,), True, "OOMKilled")


def test_a_placement_whose_only_failed_worker_was_deleted_is_not_counted() -> None:
    workers = (make_worker(0),)
    gang = make_gang(make_rank(0), make_rank(1), workers=workers)
    failed = PlacementSeen(attempt=1, workers=workers, ended=WORKER_FAILED)
    found = look(msgspec.structs.replace(gang, placement=failed))
    assert found is not None
    assert (found.reason, found.counted) == (reasons.WORKER_LOST, False)


def test_silence_means_nothing_to_an_operator_that_has_just_begun_to_listen() -> None:
    gang = gang_of(WAITS, worker={"node_silent": True}, silent=True)
    assert look(msgspec.structs.replace(gang, listened=False)) is None


def test_nobody_heard_at_all_is_our_own_deafness() -> None:
    workers = (make_worker(0, node_silent=True), make_worker(1, node_silent=True))
    gang = make_gang(workers=workers, silent=(0, 1))
    assert look(msgspec.structs.replace(gang, listening_seconds=3600.0)) is None


@pytest.mark.parametrize(("begun", "trouble"), [(True, True), (False, False)])
def test_a_worker_that_is_not_there_is_trouble_once_the_attempt_has_begun(begun: bool, trouble: bool) -> None:
    gang = make_gang(make_rank(0), workers=(make_worker(0),), silent=(1,))
    assert (look(gang, starting=begun, running=begun) is not None) is trouble


def test_a_worker_that_has_reported_and_is_not_there_was_deleted() -> None:
    gang = make_gang(make_rank(0), make_rank(1), workers=(make_worker(0),))
    found = look(gang, starting=False, running=False)
    assert found is not None
    assert (found.message, found.counted) == ("worker 1 was deleted", False)


def test_workers_that_are_not_there_at_all_were_removed_by_somebody() -> None:
    found = look(msgspec.structs.replace(make_gang(make_rank(0)), placement=None))
    assert found is not None
    assert (found.reason, found.counted) == (reasons.WORKER_LOST, False)


def reporting(gang: Gang, **fields: Any) -> Gang:
    """The gang whose first launcher says something else of itself."""
    heard = gang.launchers[0]
    changed = msgspec.structs.replace(heard, report=dataclasses.replace(heard.report, **fields))
    return msgspec.structs.replace(gang, launchers={**gang.launchers, 0: changed})


LAUNCHERS = {
    "stopped by its fence": (wire.STAGE_STOPPED, wire.STOP_FENCE, reasons.RANKS_KILLED, True, True),
    "told to end by its place": (wire.STAGE_STOPPED, wire.STOP_SIGNAL, reasons.WORKER_LOST, False, False),
    "started anew": (wire.STAGE_WAITING, None, reasons.WORKER_LOST, True, True),
    "at work": (wire.STAGE_RUNNING, None, None, None, None),
}


@pytest.mark.parametrize("case", LAUNCHERS)
def test_a_launcher_that_is(case: str) -> None:
    stage, cause, reason, counted, in_place = LAUNCHERS[case]
    found = look(reporting(make_gang(make_rank(0), make_rank(1)), stage=stage, stop_cause=cause))
    seen = (found.reason, found.counted, found.in_place) if found else (None, None, None)
    assert seen == (reason, counted, in_place)


def test_a_launcher_that_waits_while_the_attempt_starts_has_not_lost_anything() -> None:
    gang = reporting(make_gang(make_rank(0), make_rank(1)), stage=wire.STAGE_WAITING, attempt=0)
    assert look(gang, running=False) is None


VALUE = ["ValueError: x"]

EXITS: dict[str, tuple[list[wire.RankReport], dict[str, Any]]] = {
    "a rank that exited 1": (
        [make_rank(0), exited(1, output_tail=VALUE)],
        {"ranks": (1,), "node": "node2", "in_place": True, "fault": "ValueError: x", "hopeless": False,
         "message": "rank 1 exited with code 1 at step 37: ValueError: x"}),
    "a rank that was killed": (
        [make_rank(0), exited(1, None, exit_signal=9, output_tail=VALUE)],
        {"fault": None, "message": "rank 1 exited by signal 9 at step 37"}),
    "a rank without an exception is told by the last thing that it printed": (
        [make_rank(0), exited(1, 2, output_tail=["python3: can't open file 'trian.py'", ""])],
        {"fault": None, "hopeless": False,
         "message": "rank 1 exited with code 2 at step 37: python3: can't open file 'trian.py'"}),
    "a command that cannot be run will not run the next time either": (
        [make_rank(0), exited(1, 127, beats=0, step=None, output_tail=["'pyton3' cannot be started"])],
        {"hopeless": True, "message": "rank 1 exited with code 127: 'pyton3' cannot be started"}),
    "the same code after steps were made is the script's own": (
        [make_rank(0), exited(1, 127)], {"hopeless": False}),
    "every rank with the same exception": (
        [exited(0, output_tail=VALUE), exited(1, output_tail=VALUE)],
        {"ranks": (), "node": "", "hopeless": True, "fault": "ValueError: x"}),
    "a rank that lost its storage may be restarted": (
        [make_rank(0), exited(1, output_tail=["OSError: [Errno 116] Stale file handle"])],
        {"fault": None, "hopeless": False}),
    "a moment ago: reports of an earlier exit may still come": (
        [make_rank(0), exited(1, ago=0.1)], {"settled": False}),
    "long enough ago": ([make_rank(0), exited(1, ago=1.0)], {"settled": True}),
    "a moment ago, and no rank is left to tell of an earlier one": (
        [exited(0, ago=0.1), exited(1, ago=0.1)], {"settled": True}),
}


@pytest.mark.parametrize("case", EXITS)
def test_exits(case: str) -> None:
    ranks, details = EXITS[case]
    found = look(make_gang(*ranks))
    assert found is not None
    assert found.reason == reasons.RANK_EXITED
    assert {name: getattr(found, name) for name in details} == details


PEER = ["RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:4411"]
REMOTE = ["torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2006, remote process exited"]


def heard_before(gang: Gang, worker: int, age: float) -> Gang:
    """The gang whose one launcher was heard last so many seconds ago."""
    old = msgspec.structs.replace(gang.launchers[worker], age=age)
    return msgspec.structs.replace(gang, launchers={**gang.launchers, worker: old})


CONSEQUENCES: dict[str, tuple[Gang, dict[str, Any]]] = {
    "whose peer is not heard since puts it down to that peer": (
        heard_before(make_gang(exited(0, ago=12.0, output_tail=PEER), make_rank(1)), 1, 14.0),
        {"ranks": (1,), "node": "node2", "in_place": False, "settled": True}),
    "whose peer may still tell of its own end waits for that": (
        heard_before(make_gang(exited(0, ago=4.0, output_tail=REMOTE), make_rank(1)), 1, 4.5), {"settled": False}),
    "whose peer is lost with its launcher puts it down to that peer": (
        gang_of(exited(0, ago=12.0, output_tail=PEER), worker={}, silent=True),
        {"ranks": (1,), "node": "node2", "settled": True}),
    "whose peer told of its end later puts it down to that peer": (
        make_gang(exited(0, ago=9.0, output_tail=PEER), exited(1, ago=5.0, output_tail=VALUE)),
        {"ranks": (1,), "fault": "ValueError: x", "consequence": False}),
    "beside others that tell the same names nobody": (
        make_gang(exited(0, output_tail=PEER), exited(1, output_tail=REMOTE)),
        {"ranks": (), "node": "", "settled": True, "fault": None, "hopeless": False}),
    "after a peer had ended well names nobody": (
        make_gang(exited(0, ago=5.0, output_tail=PEER), exited(1, 0, ago=6.0)), {"ranks": (), "node": ""}),
    "while all others live on is the one to look at": (
        make_gang(exited(0, ago=5.0, output_tail=PEER), make_rank(1), make_rank(2)), {"ranks": (0,), "node": "node1"}),
}


@pytest.mark.parametrize("case", CONSEQUENCES)
def test_a_rank_that_lost_a_connection(case: str) -> None:
    gang, details = CONSEQUENCES[case]
    found = look(gang)
    assert found is not None
    assert found.reason == reasons.RANK_EXITED
    assert {name: getattr(found, name) for name in details} == details
    assert found.exclude is False


def test_exit_code_0_is_no_trouble() -> None:
    assert look(make_gang(exited(0, 0), make_rank(1))) is None


def test_before_the_start_was_ordered_no_rank_can_be_in_trouble() -> None:
    assert look(make_gang(make_rank(0), exited(1)), starting=False, running=False) is None
