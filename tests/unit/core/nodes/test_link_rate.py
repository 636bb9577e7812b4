"""Bytes over a GPU's links: counters of two reports become a rate, and a link that stops is evidence."""

from __future__ import annotations

import dataclasses

import pytest

from hedgerow import wire
from hedgerow.wire_agent import AgentReport, GpuProcess
from hedgerow_operator.core.nodes.gpu_pace import LINK, link_rate
from hedgerow_operator.core.nodes.on_gpus import RanksOnGPUs
from tests.unit.core.builders import UID, make_rank, make_report
from tests.unit.core.nodes.builders import gpu, report

STEPS = 30
USUAL = 4e9


def agent(at: float, moved: float, age: float = 0.0, run: str = "agent", **values: float) -> AgentReport:
    """A node whose GPU 0 is used by rank 0 and has moved so many bytes by then, half of them each way."""
    counters = {"nvlink_transmitted_bytes": moved / 2, "nvlink_received_bytes": moved / 2}
    used = gpu(0, processes=[GpuProcess(900, job=UID, rank=0)], values={**counters, **values}, age=age)
    return dataclasses.replace(report(), gpus=[used], sent_monotonic=at, agent=run)


def launcher(step: int, age: float = 0.1) -> wire.Report:
    return make_report(make_rank(0, step=step, progress_age=age), node="node-1")


def trained(rates: tuple[float, ...] = (USUAL,), **values: float) -> tuple[RanksOnGPUs, float]:
    """Rank 0 has got on for STEPS seconds, with these rates in turn; and what its links have moved."""
    ranks, moved = RanksOnGPUs(), 0.0
    for step in range(STEPS):
        ranks.read(UID, {"node-1": agent(float(step), moved, **values)}, [launcher(step)])
        moved += rates[step % len(rates)]
    return ranks, moved


def quiet(ranks: RanksOnGPUs, *later: AgentReport) -> str:
    """What is said of rank 0 when it stands still while these come."""
    for heard in later:
        ranks.read(UID, {"node-1": heard}, [launcher(STEPS - 1, 20.0)])
    return ranks.quiet.get(0, "")


def test_links_that_move_next_to_nothing_while_they_never_rested_are_evidence() -> None:
    ranks, moved = trained()
    said = quiet(ranks, agent(STEPS + 0.0, moved), agent(STEPS + 5.0, moved + 5e6))
    assert said == "moves 1 MB/s over NVLink instead of 4000 MB/s"


def test_links_that_rest_between_collectives_neither_accuse_nor_speak_for_work() -> None:
    ranks, moved = trained((0.0, USUAL), power_watts=350.0)
    still = (agent(STEPS + 0.0, moved, power_watts=350.0), agent(STEPS + 5.0, moved, power_watts=350.0))
    assert quiet(ranks, *still) == ""
    assert quiet(ranks, agent(STEPS + 10.0, moved, power_watts=100.0)) == "draws 100 W instead of 350 W"


def test_links_that_move_as_ever_speak_for_work_whatever_the_power() -> None:
    ranks, moved = trained(power_watts=350.0)
    busy = (agent(STEPS + 0.0, moved, power_watts=100.0), agent(STEPS + 5.0, moved + 5 * USUAL, power_watts=100.0))
    assert quiet(ranks, *busy) == ""


def test_an_agent_that_began_anew_tells_no_rate_at_first() -> None:
    ranks, moved = trained()
    assert quiet(ranks, agent(1.0, moved, run="another")) == ""


# name: (bytes before, bytes now, seconds between) -> rate
RATES: dict[str, tuple[float, float, float, dict[str, float]]] = {
    "what was moved since, by the seconds": (0.0, 2e9, 2.0, {LINK: 1000.0}),
    "nothing moved": (5e9, 5e9, 2.0, {LINK: 0.0}),
    "counters that began anew": (5e9, 1e9, 2.0, {}),
    "one look told twice": (5e9, 5e9, 0.0, {}),
    "a clock that went back": (5e9, 6e9, -3.0, {}),
}


@pytest.mark.parametrize(("before", "now", "seconds", "rate"), RATES.values(), ids=RATES)
def test_the_rate_of_two_reports(before: float, now: float, seconds: float, rate: dict[str, float]) -> None:
    first, last = (agent(0.0, moved).gpus[0] for moved in (before, now))
    assert link_rate(first, last, seconds) == rate


def test_a_gpu_without_links_has_no_rate() -> None:
    assert link_rate(gpu(0), gpu(0), 2.0) == {}
    assert link_rate(None, gpu(0), 2.0) == {}


def test_a_rate_that_is_told_needs_no_counters() -> None:
    told = {"nvlink_transmitted_bytes_per_second": 3e9, "nvlink_received_bytes_per_second": 1e9}
    assert link_rate(None, gpu(0, values=told), 0.0) == {LINK: 4000.0}
    one_way = gpu(0, values={"nvlink_transmitted_bytes_per_second": 3e9})
    assert link_rate(None, one_way, 0.0) == {}
