"""A GPU is quiet by what it did itself while its rank trained, never by a number that is ours."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from hedgerow import wire
from hedgerow.wire_agent import AgentReport, GpuProcess
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.nodes.gpu_pace import LEAST_SAMPLES
from hedgerow_operator.core.nodes.on_gpus import RanksOnGPUs
from hedgerow_operator.core.verdict import Kind, judge
from tests.unit.core.builders import UID, frozen, make_gang, make_rank, make_report
from tests.unit.core.nodes.builders import gpu, report

DEADLINES = {"step": 10.0}


def agent(age: float = 1.0, **values: float) -> AgentReport:
    """A node whose GPU 0 is used by rank 0, and shows this."""
    used = gpu(0, processes=[GpuProcess(900, job=UID, rank=0)], values=values, age=age)
    return dataclasses.replace(report(), gpus=[used])


def launcher(step: int, age: float = 0.1) -> wire.Report:
    return make_report(make_rank(0, step=step, progress_age=age), node="node-1")


def trained(samples: int = 50, **values: float) -> RanksOnGPUs:
    """Rank 0 has got on from report to report, with these values of its GPU, which go up and down a little."""
    ranks = RanksOnGPUs()
    for step in range(samples + 1):
        shown = {name: value * (0.95 if step % 2 else 1.05) for name, value in values.items()}
        ranks.read(UID, {"node-1": agent(**shown)}, [launcher(step)])
    return ranks


def after(ranks: RanksOnGPUs, progress_age: float = 20.0, age: float = 1.0, **values: float) -> str:
    """What is said of it once the rank stands still and its GPU shows this."""
    ranks.read(UID, {"node-1": agent(age, **values)}, [launcher(50, progress_age)])
    return ranks.quiet.get(0, "")


def test_a_gpu_that_draws_far_less_than_while_it_trained_is_quiet() -> None:
    assert after(trained(power_watts=350.0), power_watts=120.0) == "draws 120 W instead of 349 W"


# name: (usual, now)
AS_USUAL: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    "a little less power": ({"power_watts": 350.0}, {"power_watts": 250.0}),
    "little power that was always little": ({"power_watts": 90.0}, {"power_watts": 85.0}),
    "full utilisation, which says nothing": ({"utilisation_percent": 100.0}, {"utilisation_percent": 0.0}),
    "less power, and cores that work as ever": (
        {"power_watts": 350.0, "tensor_activity_percent": 40.0},
        {"power_watts": 120.0, "tensor_activity_percent": 38.0},
    ),
    "a value that is not there any more": ({"power_watts": 350.0}, {}),
}  # fmt: skip


@pytest.mark.parametrize(("usual", "now"), AS_USUAL.values(), ids=AS_USUAL)
def test_what_is_no_evidence(usual: dict[str, float], now: dict[str, float]) -> None:
    assert after(trained(**usual), **now) == ""


def test_too_short_a_past_is_no_measure() -> None:
    assert after(trained(samples=LEAST_SAMPLES - 2, power_watts=350.0), power_watts=120.0) == ""


def test_a_rank_that_progressed_a_moment_ago_is_not_looked_at() -> None:
    assert after(trained(power_watts=350.0), progress_age=1.0, power_watts=120.0) == ""


def test_what_was_read_before_the_standstill_says_nothing_of_it() -> None:
    assert after(trained(power_watts=350.0), age=30.0, power_watts=120.0) == ""


def test_one_pause_in_the_past_does_not_hide_a_standstill_for_ever() -> None:
    ranks = trained(power_watts=350.0)
    ranks.read(UID, {"node-1": agent(power_watts=110.0)}, [launcher(60)])
    for step in range(61, 161):
        ranks.read(UID, {"node-1": agent(power_watts=350.0)}, [launcher(step)])
    assert after(ranks, power_watts=120.0) != ""


def test_what_is_seen_in_the_standstill_itself_is_never_taken_for_usual() -> None:
    ranks = trained(power_watts=350.0)
    for step in (51, 51, 51):
        ranks.read(UID, {"node-1": agent(power_watts=120.0)}, [launcher(step, 20.0)])
    assert ranks.quiet[0].startswith("draws 120 W")


def test_a_silent_agent_takes_its_evidence_back() -> None:
    ranks = trained(power_watts=350.0)
    assert after(ranks, power_watts=120.0)
    ranks.read(UID, {}, [launcher(50, 25.0)])
    assert ranks.quiet == {}


UNTOLD = {"idle_seconds": 0.0, "io_idle_seconds": 20.0}


def test_a_rank_of_which_nothing_else_can_be_told_stands_by_its_gpu() -> None:
    gang = make_gang(make_rank(0, progress_age=20.0, **UNTOLD), make_rank(1, progress_age=20.0, **UNTOLD))
    quiet = dict.fromkeys((0, 1), "draws 120 W instead of 350 W")
    assert judge(gang, DEADLINES).kind is Kind.SUSPECT
    verdict = judge(gang_with(gang, quiet), DEADLINES)
    assert verdict.kind is Kind.STALLED
    assert not verdict.decisive
    assert verdict.evidence[-1] == "the GPU of rank 1 draws 120 W instead of 350 W"


def test_one_quiet_gpu_of_two_is_not_enough() -> None:
    gang = make_gang(make_rank(0, progress_age=20.0, **UNTOLD), make_rank(1, progress_age=20.0, **UNTOLD))
    assert judge(gang_with(gang, {0: "draws 120 W instead of 350 W"}), DEADLINES).kind is Kind.SUSPECT


def test_a_rank_that_moves_bytes_is_at_work_whatever_its_gpu_does() -> None:
    gang = make_gang(frozen(0), frozen(1, io_idle_seconds=0.2))
    quiet = dict.fromkeys((0, 1), "draws 120 W instead of 350 W")
    assert judge(gang_with(gang, quiet), DEADLINES).kind is Kind.SUSPECT


def test_the_quiet_gpu_of_a_guilty_rank_is_told_as_evidence() -> None:
    gang = make_gang(frozen(0), frozen(1, step=36))
    verdict = judge(gang_with(gang, {1: "draws 60 W instead of 350 W"}), DEADLINES)
    assert verdict.ranks == (1,)
    assert verdict.message.endswith("; the GPU of rank 1 draws 60 W instead of 350 W")


def gang_with(gang: Gang, quiet: dict[int, str]) -> Gang:
    return msgspec.structs.replace(gang, quiet=quiet)
