"""Which checkpoint the next attempt starts from, and what the last one is judged by."""

import dataclasses
from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import BadCheckpoint, HistoryEntry, TrainingJobStatus
from hedgerow_operator.core.checkpoints import after_failure, choose
from hedgerow_operator.core.gang import gather
from hedgerow_operator.core.resume import choose_checkpoint, judge_progress, ready_scans, set_aside
from hedgerow_operator.core.seen import Heard, PlacementSeen, Seen
from hedgerow_operator.core.step import GATHERING, Context, Step
from tests.unit.core.builders import make_job, make_report, make_worker

COMPLETE, INVALID, UNVERIFIED = wire.CHECKPOINT_COMPLETE, wire.CHECKPOINT_INVALID, wire.CHECKPOINT_NOT_VERIFIED


def scan(*steps: int, **others: str) -> wire.CheckpointScan:
    """Complete checkpoints of these steps, and others (named like s30) of another validity; newest first."""
    validity = dict.fromkeys(steps, COMPLETE) | {int(name[1:]): kind for name, kind in others.items()}
    return wire.CheckpointScan(candidates=[
        wire.Checkpoint(step=step, path=f"/c/{step}", validity=validity[step], written=1.0)
        for step in sorted(validity, reverse=True)
    ], quiet=True)


BAD = (BadCheckpoint(path="/c/30", failures=2),)

CHOICES: dict[str, tuple[list[wire.CheckpointScan], tuple[BadCheckpoint, ...], int | None]] = {
    "no scan: from the beginning": ([], (), None),
    "an empty directory: from the beginning": ([scan()], (), None),
    "the newest": ([scan(10, 20, 30)], (), 30),
    "not one that is invalid": ([scan(10, 20, s30=INVALID)], (), 20),
    "never one that is not verified": ([scan(10, s20=UNVERIFIED, s30=UNVERIFIED)], (), 10),
    "from the beginning, if none is verified": ([scan(s20=UNVERIFIED)], (), None),
    "not one from which two attempts failed": ([scan(10, 20, 30)], BAD, 20),
    "one from which one attempt failed": ([scan(20, 30)], (BadCheckpoint(path="/c/30", failures=1),), 30),
    "in node-local directories the newest that every launcher has": ([scan(10, 20, 30), scan(10, 20)], (), 20),
    "and that every launcher has whole": ([scan(10, 20), scan(10, s20=INVALID)], (), 10),
    "none, if a launcher has none": ([scan(10, 20), scan()], (), None),
}


@pytest.mark.parametrize("case", CHOICES)
def test_chosen(case: str) -> None:
    scans, bad, step = CHOICES[case]
    chosen = choose(scans, bad).chosen
    assert (chosen.step if chosen else None) == step


def test_a_complete_copy_of_a_step_counts_before_a_torn_one_of_the_same() -> None:
    both = wire.CheckpointScan(candidates=[wire.Checkpoint(step=5, path=f"/c/{kind}", validity=kind)
                                           for kind in (INVALID, COMPLETE)])
    chosen = choose([both]).chosen
    assert chosen is not None
    assert chosen.path == f"/c/{COMPLETE}"


def test_what_was_passed_over_is_said_with_the_reason() -> None:
    choice = choose([scan(10, s20=UNVERIFIED, s30=INVALID), scan(10, 20, 30, 40)], ())
    assert choice.skipped == ("/c/30: invalid", "/c/20: not verified (unknown layout)")


def test_failures_of_a_checkpoint_add_up() -> None:
    assert after_failure(after_failure((), "/c/3"), "/c/3") == (BadCheckpoint(path="/c/3", failures=2),)
    assert after_failure(BAD, None) == BAD


def context(scans: list[wire.CheckpointScan | None], status: dict[str, Any] | None = None, **spec: Any) -> Context:
    """Attempt 2 in place, gathered: every launcher of two workers has stopped attempt 1."""
    job = make_job(
        status=TrainingJobStatus(attempt=2, placement=1, attempt_stage=GATHERING, **(status or {})),
        **{"workers": len(scans), "ranksPerWorker": 1, **spec},
    )
    heard = tuple(
        Heard(age=0.5, report=make_report(
            worker=worker, workers=len(scans), stage=wire.STAGE_STOPPED, checkpoints=found))
        for worker, found in enumerate(scans)
    )
    workers = tuple(make_worker(worker) for worker in range(len(scans)))
    seen = Seen(placements=(PlacementSeen(attempt=1, workers=workers),), heard=heard, listening_seconds=60.0)
    return Context(job=job, seen=seen, gang=gather(job, seen), now=1000.0, learned={}, deadlines={})


def quiet(attempt: int = 1, **fields: Any) -> wire.CheckpointScan:
    return wire.CheckpointScan(**{"quiet": True, "attempt": attempt, **fields})


READY = {
    "every scan was taken at rest": ([quiet(), quiet()], True),
    "one was taken while ranks lived": ([quiet(), quiet(quiet=False)], False),
    "one could not look": ([quiet(), quiet(error="stale handle")], False),
    "one is of before the attempt": ([quiet(), quiet(attempt=0)], False),
    "one is not there yet": ([quiet(), None], False),
}


@pytest.mark.parametrize("case", READY)
def test_the_start_waits_unless(case: str) -> None:
    scans, ready = READY[case]
    assert (ready_scans(context(list(scans))) is not None) is ready


def test_without_a_checkpoint_directory_nothing_is_waited_for() -> None:
    assert ready_scans(context([None, None], checkpoint=None)) == []


def test_launchers_of_another_shape_are_waited_for() -> None:
    assert ready_scans(context([quiet(), quiet()], ranksPerWorker=2)) is None


def entry(**fields: Any) -> HistoryEntry:
    return HistoryEntry(**{"attempt": 1, "placement": 1, "reason": reasons.RANK_EXITED, "from_step": 10, **fields})


JUDGEMENTS: dict[str, tuple[HistoryEntry, wire.CheckpointScan, int]] = {
    "a newer checkpoint is progress": (entry(last_step=25), scan(10, 20), 0),
    "none newer is none": (entry(last_step=25), scan(10), 3),
    "a newer torn one is none": (entry(last_step=25), scan(10, s20=INVALID), 3),
    "of a newer one that cannot be verified it is not known": (entry(last_step=25), scan(10, s20=UNVERIFIED), 2),
    "an end that does not count says nothing": (entry(last_step=25, counted=False), scan(10), 2),
}


@pytest.mark.parametrize("case", JUDGEMENTS)
def test_progress(case: str) -> None:
    last, found, no_progress = JUDGEMENTS[case]
    judged = judge_progress(context([found], {"no_progress": 2, "history": (last,)}), [found])
    assert (judged.status.no_progress, judged.status.progress_judged) == (no_progress, 1)


def test_an_attempt_is_judged_once() -> None:
    status = {"no_progress": 2, "history": (entry(last_step=25),), "progress_judged": 1}
    assert judge_progress(context([scan(10)], status), [scan(10)]).status.no_progress == 2


NEWER: dict[str, tuple[int, int, tuple[int, int]]] = {
    "a bad one that was there before is no progress": (11, 12, (3, 1)),
    "one that was computed anew is": (10, 25, (0, 0)),
}


@pytest.mark.parametrize("case", NEWER)
def test_newer_than_where_it_started_from(case: str) -> None:
    start, last_step, expected = NEWER[case]
    bad = (BadCheckpoint(path="/c/20", failures=2),)
    status = {"no_progress": 2, "history": (entry(from_step=start, last_step=last_step),), "bad_checkpoints": bad}
    judged = judge_progress(context([scan(10, 20)], status), [scan(10, 20)]).status
    assert (judged.no_progress, len(judged.bad_checkpoints)) == expected


def test_what_launchers_set_aside_is_one_event() -> None:
    lines = [f"/c/{step} is set aside" for step in (60, 50, 40, 30, 20)]
    gathered = context([scan(10), scan(10), scan(10)])
    heard = tuple(
        msgspec.structs.replace(entry, report=dataclasses.replace(entry.report, set_aside=said))
        for entry, said in zip(gathered.seen.heard, (lines[:2], [], lines), strict=True)
    )
    seen = msgspec.structs.replace(gathered.seen, heard=heard)
    told = set_aside(msgspec.structs.replace(gathered, seen=seen, gang=gather(gathered.job, seen)))
    assert [(event.reason, event.message) for event in told] == [
        (reasons.CHECKPOINTS_SET_ASIDE, f"{'; '.join(lines[:4])}; and 1 more")]
    assert set_aside(gathered) == []


AGAINST: dict[str, tuple[HistoryEntry, int]] = {
    "ranks that ended before their first step speak against it": (entry(last_step=10), 1),
    "ranks that stepped beyond it do not": (entry(last_step=11), 0),
    "a lost node does not": (entry(last_step=10, reason=reasons.NODE_LOST), 0),
    "an eviction does not": (entry(last_step=10, counted=False), 0),
}


@pytest.mark.parametrize("case", AGAINST)
def test_of_the_checkpoint_that_it_started_from(case: str) -> None:
    last, failures = AGAINST[case]
    judged = judge_progress(context([scan(10)], {"history": (last,), "resume_from": "/c/10"}), [scan(10)])
    assert sum(bad.failures for bad in judged.status.bad_checkpoints) == failures


def test_steps_since_the_checkpoint_are_lost() -> None:
    status = TrainingJobStatus(attempt=2, history=(entry(last_step=37),), lost_steps=4)
    chosen = choose_checkpoint(Step(status=status), [scan(10, 30)]).status
    assert (chosen.resume_step, chosen.resume_from, chosen.step, chosen.lost_steps) == (30, "/c/30", 30, 11)


def test_without_a_checkpoint_all_steps_are_lost() -> None:
    status = TrainingJobStatus(attempt=2, history=(entry(last_step=37),), resume_from="/c/10")
    chosen = choose_checkpoint(Step(status=status), []).status
    assert (chosen.resume_step, chosen.resume_from, chosen.lost_steps) == (None, None, 38)


@pytest.mark.parametrize(("last_step", "no_progress"), [(None, 3), (7, 0)])
def test_a_job_that_saves_nothing_makes_no_progress_when_it_makes_no_step(
    last_step: int | None, no_progress: int
) -> None:
    status = {"no_progress": 2, "history": (entry(last_step=last_step),)}
    assert judge_progress(context([None], status, checkpoint=None), []).status.no_progress == no_progress
