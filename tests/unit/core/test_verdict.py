"""When a gang counts as stalled, and when it only looks like it."""

import msgspec
import pytest

from hedgerow.wire import RankReport
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.rank_reports import with_progress_of
from hedgerow_operator.core.verdict import Kind, judge
from tests.unit.core.builders import exited, frozen, make_gang, make_rank, stack

DEADLINES = {"step": 10.0, "checkpoint": 600.0, "eval": 600.0, "init": 1800.0, "first-step": 1800.0}

OTHERS = [frozen(0), frozen(1), frozen(3)]

CASES = {
    "ranks that progress are healthy": ([make_rank(0), make_rank(1)], Kind.HEALTHY),
    "one rank still inside its deadline clears the gang": ([frozen(0), make_rank(1)], Kind.HEALTHY),
    "everybody frozen past the deadline is a stall": ([frozen(0), frozen(1)], Kind.STALLED),
    "a rank that still uses CPU and moves its stack makes it a suspicion": (
        [frozen(0), frozen(1, idle_seconds=0.0, stack_unchanged_seconds=0.0)], Kind.SUSPECT),
    "a rank that still writes makes it a suspicion": ([frozen(0), frozen(1, io_idle_seconds=0.2)], Kind.SUSPECT),
    "a busy CPU with a stack that never moves is a stall: collectives wait busily": (
        [frozen(0, idle_seconds=0.0), frozen(1, idle_seconds=0.0)], Kind.STALLED),
    "a busy CPU whose stack cannot be seen proves nothing": (
        [make_rank(0, progress_age=20.0, idle_seconds=0.0, io_idle_seconds=20.0),
         make_rank(1, progress_age=20.0, idle_seconds=0.0, io_idle_seconds=20.0)], Kind.SUSPECT),
    "without any second evidence the deadline must pass three times over": (
        [make_rank(0, progress_age=31.0), make_rank(1, progress_age=31.0)], Kind.STALLED),
    "two and a half times over is not enough": (
        [make_rank(0, progress_age=25.0), make_rank(1, progress_age=25.0)], Kind.SUSPECT),
    "rank 0 saving a declared checkpoint while the others wait is healthy": (
        [frozen(0, phase="checkpoint"), frozen(1), frozen(2)], Kind.HEALTHY),
    "a long evaluation inside its own limit is healthy": (
        [frozen(0, phase="eval", age=400.0), frozen(1, phase="eval", age=400.0)], Kind.HEALTHY),
    "a slow start inside the startup limit is healthy": (
        [frozen(0, phase="init", age=900.0, step=None, beats=0)], Kind.HEALTHY),
    "a phase that nobody has a limit for never passes": ([frozen(0, phase="upload", age=9999.0)], Kind.HEALTHY),
    "one rank far behind that does nothing while peers go on is a stall": (
        [make_rank(0), make_rank(1), frozen(2, age=60.0, step=30)], Kind.STALLED),
    "ranks that wait while another saves for long, as it said it would, are not left behind": (
        [frozen(0, phase="checkpoint", age=60.0), frozen(1, age=60.0), frozen(2, age=60.0)], Kind.HEALTHY),
    "ranks that wait while another starts slowly are not left behind": (
        [frozen(0, phase="init", age=60.0, step=None, beats=0), frozen(1, age=60.0)], Kind.HEALTHY),
    "one rank behind that works while peers go on is not": (
        [make_rank(0), frozen(1, age=60.0, io_idle_seconds=0.0)], Kind.HEALTHY),
    "a job that never reports progress is not measured, however long it takes": (
        [make_rank(0, beats=0, step=None, phase="init", source=None, progress_age=9999.0)], Kind.NOT_MEASURED),
    "a job that never reports progress and computes with a still stack is not measured": (
        [frozen(0, beats=0, step=None, phase="init", source=None, age=9999.0, idle_seconds=0.0)], Kind.NOT_MEASURED),
    "a job that has done nothing at all since its start is stalled": (
        [frozen(0, beats=0, step=None, phase="init", source=None, age=1801.0)], Kind.STALLED),
    "no live rank heard is not measured": ([], Kind.NOT_MEASURED),
}


@pytest.mark.parametrize("case", CASES)
def test_that(case: str) -> None:
    ranks, kind = CASES[case]
    assert judge(make_gang(*ranks), DEADLINES).kind is kind


def test_a_stall_says_what_progressed_last_and_what_is_unusual() -> None:
    verdict = judge(make_gang(*OTHERS[:2], frozen(2, step=36, stack=stack("next_batch", 88)), OTHERS[2]), DEADLINES)
    assert verdict.message == (
        "no rank has progressed for 30 s in phase step at step 37 (deadline 10 s); rank 2 never reached step 37, which "
        "ranks 0, 1 and 3 did and wait in; rank 2 stands at train.py:88 in next_batch; rank 2 "
        "has used hardly any CPU for 30 s, waits in futex (state S), its stack has not changed for 20 s"
    )
    assert verdict.evidence[-1] == (
        "rank 2 has used hardly any CPU for 30 s, waits in futex (state S), its stack has not changed for 20 s"
    )


UNREAD = {
    "output that came too fast a moment ago": (3.0, Kind.NOT_MEASURED),
    "output that came too fast before the deadline began": (25.0, Kind.STALLED),
    "output that was all read": (None, Kind.STALLED),
}


@pytest.mark.parametrize("case", UNREAD)
def test_a_log_is_no_evidence_of_a_stall_after(case: str) -> None:
    age, kind = UNREAD[case]
    ranks = [frozen(0, source="Log", output_unread_age=age), *(frozen(rank, source=None, beats=0, step=None,
                                                                      phase="init") for rank in (1, 2))]
    verdict = judge(_spoken_for(*ranks), DEADLINES)
    assert verdict.kind is kind


def _spoken_for(*ranks: RankReport) -> Gang:
    """A gang in which rank 0 prints for all."""
    return make_gang(ranks[0], *(with_progress_of(rank, ranks[0]) for rank in ranks[1:]))


CULPRITS = {
    "the rank that never reached the step is guilty, at once": ([*OTHERS, frozen(2, step=36)], (2,), True),
    "the rank behind is no decisive evidence while its bytes are unmeasured": (
        [*OTHERS, frozen(2, step=36, io_idle_seconds=None)], (2,), False),
    "a stopped process is guilty, at once": ([*OTHERS, frozen(2, process_state="T")], (2,), True),
    "a stopped process is guilty although the others cannot be measured": (
        [make_rank(0, progress_age=12.0), frozen(1, process_state="T", age=12.0)], (1,), True),
    "all stopped together is nobody's fault": (
        [frozen(0, process_state="T"), frozen(1, process_state="T")], (), False),
    "at the same step, the one in another function is guilty": (
        [frozen(rank, stack=stack("backward", 50)) for rank in (0, 1, 3)] + [frozen(2, stack=stack("acquire", 88))],
        (2,), False),
    "everybody at the same place: nobody is named": (
        [frozen(rank, stack=stack("all_reduce", 50)) for rank in range(4)], (), False),
    "two against two: nobody is named": (
        [frozen(0, stack=stack("a", 1)), frozen(1, stack=stack("a", 1)),
         frozen(2, stack=stack("b", 2)), frozen(3, stack=stack("b", 2))], (), False),
    "without stacks at the same step nobody is named": ([frozen(0), frozen(1)], (), False),
    "the rank that has not made its first step is guilty": (
        [*OTHERS, frozen(2, step=None, beats=0, phase="first-step", age=2000.0)], (2,), True),
}


@pytest.mark.parametrize("case", CULPRITS)
def test_culprit(case: str) -> None:
    ranks, guilty, decisive = CULPRITS[case]
    verdict = judge(make_gang(*ranks), {**DEADLINES, "first-step": 10.0})
    assert (verdict.kind, verdict.ranks, verdict.decisive) == (Kind.STALLED, guilty, decisive)


def test_a_silent_worker_is_named_when_the_others_wait_but_not_at_once() -> None:
    verdict = judge(make_gang(frozen(0), frozen(1), silent=(2,)), DEADLINES)
    assert (verdict.kind, verdict.ranks, verdict.decisive) == (Kind.STALLED, (2,), False)


def test_a_silent_worker_among_ranks_that_progress_is_not_measured() -> None:
    assert judge(make_gang(make_rank(0), silent=(1,)), DEADLINES).kind is Kind.NOT_MEASURED


def test_no_report_of_an_exited_rank_counts_as_progress() -> None:
    assert judge(make_gang(exited(0), frozen(1)), DEADLINES).kind is Kind.STALLED


def test_a_start_without_progress_is_a_stall_in_a_job_that_has_reported_progress_before() -> None:
    mute = frozen(0, beats=0, step=None, phase="init", source=None, age=50.0, idle_seconds=0.0)
    assert judge(make_gang(mute), {"init": 20.0}).kind is Kind.NOT_MEASURED
    assert judge(make_gang(mute), {"init": 20.0}, speaks=True).kind is Kind.STALLED


ENDINGS = {
    "the others get the time of the phase ending": (
        [exited(0, 0, ago=500.0), frozen(1, age=500.0)], Kind.HEALTHY, ""),
    "and no more": ([exited(0, 0, ago=700.0), frozen(1, age=700.0)], Kind.STALLED, "EndingTimeout"),
    "counted from the last exit": (
        [exited(0, 0, ago=700.0), exited(2, 0, ago=100.0), frozen(1, age=700.0)], Kind.HEALTHY, ""),
    "others that still step are healthy, however long ago the first ended": (
        [exited(0, 0, ago=9000.0), make_rank(1)], Kind.HEALTHY, ""),
    "one that still writes is not ended by force": (
        [exited(0, 0, ago=9000.0), frozen(1, age=9000.0, io_idle_seconds=0.0)], Kind.SUSPECT, "NoProgress"),
    "one in a phase with a longer limit has that": (
        [exited(0, 0, ago=700.0), frozen(1, age=700.0, phase="upload")], Kind.HEALTHY, ""),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_when_some_ranks_have_ended_well(case: str) -> None:
    ranks, kind, reason = ENDINGS[case]
    verdict = judge(make_gang(*ranks), {**DEADLINES, "ending": 600.0, "upload": 3600.0})
    assert (verdict.kind, verdict.reason) == (kind, reason or "Healthy")


def test_the_ranks_that_do_not_end_are_named() -> None:
    verdict = judge(make_gang(exited(0, 0, ago=700.0), frozen(1, age=700.0)), {**DEADLINES, "ending": 600.0})
    assert (verdict.ranks, verdict.evidence[1]) == (
        (1,), "rank 0 ended with exit code 0, rank 1 did not end")


def test_a_rank_that_stands_steps_before_the_end_of_the_others_is_judged_by_its_own_deadline() -> None:
    ended = [exited(0, 0, ago=20.0, step=80), exited(2, 0, ago=20.0, step=80)]
    verdict = judge(make_gang(ended[0], frozen(1, age=30.0, step=29), ended[1]), {**DEADLINES, "ending": 600.0})
    assert (verdict.kind, verdict.ranks) == (Kind.STALLED, (1,))
    assert "ranks 0 and 2 ended with exit code 0 after step 80, which rank 1 never reached" in verdict.message


def test_while_others_may_take_their_time_to_end_it_says_so() -> None:
    verdict = judge(make_gang(exited(0, 0, ago=20.0), frozen(1, age=30.0)), {**DEADLINES, "ending": 600.0})
    assert verdict.message == "rank 0 ended with exit code 0, rank 1 may take 10 min to end"


def test_nobody_is_suspected_before_it_is_seen_where_ranks_stand() -> None:
    verdict = judge(make_gang(frozen(0), frozen(1)), DEADLINES)
    assert "cannot be told before it is seen where each of them stands" in verdict.message


def test_ranks_whose_reports_and_phases_differ_are_late_each_by_its_own() -> None:
    """The oldest report is of a rank with the short limit: what it says nothing of is not held against the other."""
    deadlines = {**DEADLINES, "ending": 60.0, "upload": 70.0}
    ranks = (exited(0, 0, ago=90.0), frozen(1, age=100.0), frozen(2, age=100.0, phase="upload"))
    gang = make_gang(*ranks, age=0.0)
    views = [msgspec.structs.replace(view, age=20.0 if view.rank == 1 else 0.0) for view in gang.ranks]
    assert judge(msgspec.structs.replace(gang, ranks=views), deadlines).kind is Kind.STALLED
    late = [msgspec.structs.replace(view, age=40.0 if view.rank == 1 else 0.0) for view in gang.ranks]
    assert judge(msgspec.structs.replace(gang, ranks=late), deadlines).kind is Kind.HEALTHY
