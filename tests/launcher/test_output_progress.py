"""Progress and values from what ranks print, with real processes and real pipes."""

from __future__ import annotations

import pytest

from hedgerow import wire
from tests.launcher.launching import Launch, begin, python
from tests.launcher.operator_double import OperatorDouble

MEGATRON = """
import os, sys, time
out = open(1, "w", buffering=int(os.environ.get("BUFFER", "1")), closefd=False)
for step in range(1, 10000):
    if os.environ["RANK"] == "0":
        loss = "nan" if step >= %(nan_from)d else "%%.3f" %% (4 - step / 1000)
        print(" iteration %%8d/   10000 | consumed samples: %%d | elapsed time per iteration (ms): 1.0 | "
              "learning rate: 1.500E-04 | global batch size: 8 | lm loss: %%s | grad norm: 0.5 |"
              %% (step, step * 8, loss), file=out)
    time.sleep(%(seconds)s)
"""
QUICK = MEGATRON % {"nan_from": 10**6, "seconds": 0.05}


def test_lines_tell_steps_and_values(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(QUICK))
    rank = operator.wait_for_rank(lambda r: (r.step or 0) > 30)
    assert (rank.source, rank.phase, rank.state) == ("Log", wire.PHASE_STEP, wire.RANK_RUNNING)
    assert rank.beats >= 30
    assert 0.02 < (rank.step_seconds or 0) < 2.0, "the wall clock counts, not the millisecond that the line claims"
    assert not rank.bursty
    assert rank.values["loss"] == pytest.approx(4 - (rank.step or 0) / 1000, abs=0.01)
    assert (rank.values["grad_norm"], rank.values["learning_rate"]) == (0.5, 1.5e-4)
    assert (rank.memory_bytes or 0) > 1 << 20


def test_a_rank_that_prints_nothing_has_no_source(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(QUICK), HEDGEROW_NPROC="2")
    report = operator.wait_for(lambda r: r.ranks and (r.ranks[0].step or 0) > 5)
    quiet = report.ranks[1]
    assert (quiet.source, quiet.beats, quiet.step, quiet.values) == (None, 0, None, {})


def test_a_rank_that_prints_nothing_is_late_when_the_one_that_prints_is(
    launch: Launch, operator: OperatorDouble
) -> None:
    operator.deadlines = {wire.PHASE_INIT: 1.0, wire.PHASE_FIRST_STEP: 1.0, wire.PHASE_STEP: 1.0}
    operator.command(begin())
    launch(*python(QUICK.replace("range(1, 10000)", "range(1, 70)") + "time.sleep(60)"), HEDGEROW_NPROC="2")
    report = operator.wait_for(lambda r: r.ranks and (r.ranks[0].step or 0) > 40)
    assert (report.ranks[1].progress_age or 0) > 1.0
    assert [rank.stack for rank in report.ranks] == [None, None]
    operator.wait_for(lambda r: len(r.ranks) == 2 and all(rank.stack for rank in r.ranks))


def test_a_block_buffered_pipe_is_seen_as_bursts(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(QUICK), BUFFER="8192")
    rank = operator.wait_for_rank(lambda r: r.bursty)
    assert rank.source == "Log"
    assert 0.02 < (rank.step_seconds or 0) < 1.0, "a burst is many steps, and takes three seconds"


def test_a_loss_that_is_no_number_is_told_by_name(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    launch(*python(MEGATRON % {"nan_from": 3, "seconds": 0.05}))
    rank = operator.wait_for_rank(lambda r: r.not_finite)
    assert rank.not_finite == {"loss": "NaN"}
    assert "loss" not in rank.values


def test_beats_come_before_lines_and_values_of_both_are_told(launch: Launch, operator: OperatorDouble) -> None:
    operator.command(begin())
    beats = "import hedgerow, itertools, time\n" + QUICK.replace(
        "time.sleep", "hedgerow.beat(step + 500, tps=9.0); time.sleep"
    )
    launch(*python(beats))
    rank = operator.wait_for_rank(lambda r: "loss" in r.values and r.source == "Library")
    assert (rank.step or 0) > 500
    assert rank.values["tps"] == 9.0


@pytest.mark.parametrize(
    ("settings", "source"),
    [
        ({"HEDGEROW_HEARTBEAT_SOURCE": "Log"}, "Log"),
        ({"HEDGEROW_HEARTBEAT_SOURCE": "Library"}, None),
        ({"HEDGEROW_LOG_PATTERN": r"tick (?P<step>\d+)"}, "Log"),
    ],
    ids=["the log alone", "the log not at all", "a pattern of the user's own"],
)
def test_the_source_is_the_users_choice(
    launch: Launch, operator: OperatorDouble, settings: dict[str, str], source: str | None
) -> None:
    operator.command(begin())
    code = QUICK.replace("time.sleep", "print('tick', step, flush=True); time.sleep")
    if settings.get("HEDGEROW_HEARTBEAT_SOURCE") == "Log":
        code = "import hedgerow\n" + code.replace("time.sleep", "hedgerow.beat(step + 500); time.sleep")
    launch(*python(code), **settings)
    rank = operator.wait_for_rank(lambda r: (r.step or 0) > 5 if source else len(r.output_tail) > 10)
    assert rank.source == source
    assert (rank.step or 0) < 500


def test_a_pattern_without_a_group_is_refused_in_one_sentence(launch: Launch) -> None:
    launcher = launch(*python("pass"), HEDGEROW_LOG_PATTERN="step [0-9]+")
    assert launcher.wait() == 2
    assert launcher.err.count("\n") == 1
    assert "(?P<step>" in launcher.err
    assert "HEDGEROW_LOG_PATTERN" in launcher.err


def test_a_flood_is_passed_on_whole_and_does_not_hide_the_steps_behind_it(
    launch: Launch, operator: OperatorDouble
) -> None:
    operator.command(begin())
    line = b"x" * 99 + b"\n"
    flood = f"import sys\nfor _ in range(1000): sys.stdout.buffer.write({line!r} * 1000)\nsys.stdout.buffer.flush()\n"
    launcher = launch(*python(flood + QUICK), HEDGEROW_HEARTBEAT_SOURCE="Log")
    report = operator.wait_for(lambda r: r.ranks and (r.ranks[0].step or 0) > 5, seconds=60)
    assert report.unread_output_bytes > 0
    assert launcher.path("out").stat().st_size > 100_000_000


ENDS = """
for step in range(1, 61):
    print(" iteration %8d/   60 | elapsed time per iteration (ms): 1.0 | lm loss: 3.0 |" % step)
"""


@pytest.mark.parametrize(
    "settings", [{}, {"HEDGEROW_LOG_PATTERN": r"iteration +(?P<step>\d+)/"}], ids=["known lines", "a user's pattern"]
)
def test_the_end_of_a_rank_is_told_with_its_last_step(
    launch: Launch, operator: OperatorDouble, settings: dict[str, str]
) -> None:
    operator.command(begin())
    launch(*python(ENDS), HEDGEROW_NPROC="2", **settings)
    report = operator.wait_for(lambda r: any(rank.state == wire.RANK_EXITED for rank in r.ranks))
    assert [rank.step for rank in report.ranks if rank.state == wire.RANK_EXITED] in ([60], [60, 60])
