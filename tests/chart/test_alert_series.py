"""The alert rules over series that a real agent and the operator's own metrics showed while something happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from hedgerow_agent import metrics as agent_metrics
from hedgerow_operator.api import reasons
from hedgerow_operator.core.watching.communication import Communication
from hedgerow_operator.server.metrics import Metrics
from tests.chart.series import STEP_SECONDS, firing
from tests.chart.test_alerts import RULES
from tests.unit.hedgerow_agent.node import Node, story

# The first of them builds the engine.
pytestmark = pytest.mark.timeout(1800)

FALLEN = {"at": 300, "gpu": 1, "state": "Lost"}
GONE = {"at": 300, "driver": "Driver Not Loaded"}
REMAP = {"at": 300, "gpu": 0, "set": {"remap_pending": 1}}


def agent(folder: Path, minutes: int, *steps: Mapping[str, object]) -> Iterator[str]:
    """What an agent with two GPUs shows at each scrape while this happens."""
    node = Node(folder, story(2, *map(dict, steps)))
    for _ in range(minutes * 60 // STEP_SECONDS):
        yield agent_metrics.text(node.report())
        node.looks(STEP_SECONDS)


def operator(minutes: int, *changes: tuple[int, Callable[[Metrics], None]]) -> Iterator[str]:
    """What an operator shows at each scrape; changes: minute, and what happens then."""
    metrics = Metrics()
    metrics.leading(True)
    left = list(changes)
    for number in range(minutes * 60 // STEP_SECONDS):
        while left and left[0][0] * 60 <= number * STEP_SECONDS:
            left.pop(0)[1](metrics)
        yield metrics.text().decode()


def nodes(**states: int) -> Callable[[Metrics], None]:
    """So many GPUNodes in each state."""
    return lambda metrics: setattr(metrics, "count_nodes", lambda: states)


def slow(count: int) -> Callable[[Metrics], None]:
    """So many jobs are slower than they were."""
    return lambda metrics: metrics.degraded_jobs({reasons.SLOWER_THAN_BASELINE: count} if count else {})


def moving(*gigabytes: float) -> Callable[[Metrics], None]:
    """Jobs whose collectives move so much a second; those that do not say it have none."""
    told = [Communication(share=0.2, bus_bytes_per_second=value * 1e9) for value in gigabytes]
    entries = [("research", f"job-{number}", figures) for number, figures in enumerate(told)]
    return lambda metrics: setattr(metrics, "communication", lambda: entries)


# Alert -> what an agent sees, and at which second how many GPUs it speaks of.
AGENT = {
    "HedgerowGPUFailed": ((FALLEN,), {240: 0, 420: 1, 840: 1}),
    "HedgerowGPUDegraded": ((REMAP,), {240: 0, 420: 1, 840: 1}),
    "HedgerowDriverSilent": ((GONE,), {240: 0, 420: 1, 840: 1}),
}

# Alert -> what an operator sees, and at which second how many series it has.
OPERATOR = {
    "HedgerowJobStalled": (
        ((5, lambda metrics: metrics.incident_opened(reasons.NO_PROGRESS)),),
        {240: 0, 360: 1, 1200: 0},
    ),
    "HedgerowJobStaysStalled": (
        ((5, lambda metrics: metrics.jobs_by_state({"Stalled": 2, "Running": 1})),
         (15, lambda metrics: metrics.jobs_by_state({"Running": 3}))),
        {240: 0, 360: 1, 870: 1, 930: 0},
    ),
    "HedgerowJobSlow": (((5, slow(1)), (15, slow(0))), {240: 0, 360: 1, 870: 1, 930: 0}),
    # One of two jobs falls to a third, and comes back; then both have ended.
    "HedgerowBusBandwidthFell": (
        ((0, moving(400, 90)), (5, moving(130, 88)), (9, moving(390, 90)), (15, moving())),
        {240: 0, 360: 1, 570: 0, 960: 0},
    ),
    "HedgerowNodeQuarantined": (
        ((0, nodes(Healthy=8)), (5, nodes(Healthy=7, Quarantined=1)), (15, nodes(Healthy=8))),
        {240: 0, 360: 1, 930: 0},
    ),
    "HedgerowAgentSilent": (((0, nodes(Healthy=8)), (5, nodes(Healthy=7, Unreachable=1))), {240: 0, 360: 1}),
    "HedgerowNodesNotMeasured": (((0, nodes(Healthy=8)), (5, nodes(NotMeasured=8))), {240: 0, 360: 1}),
    "HedgerowNobodyLeads": (((5, lambda metrics: metrics.leading(False)),), {240: 0, 360: 1}),
}  # fmt: skip


@pytest.mark.parametrize("alert", AGENT)
def test_over_what_an_agent_shows(alert: str, tmp_path: Path) -> None:
    steps, expected = AGENT[alert]
    firing(tmp_path, agent(tmp_path, 15, *steps), RULES[alert]["expr"], expected)


@pytest.mark.parametrize("alert", OPERATOR)
def test_over_what_an_operator_shows(alert: str, tmp_path: Path) -> None:
    changes, expected = OPERATOR[alert]
    firing(tmp_path, operator(21, *changes), RULES[alert]["expr"], expected)


def test_where_no_operator_is_scraped_at_all_nobody_leads(tmp_path: Path) -> None:
    firing(tmp_path, ["hedgerow_other 1"], RULES["HedgerowNobodyLeads"]["expr"], {60: 1})


@pytest.mark.parametrize("alert", RULES)
def test_while_all_is_well_none_speaks(alert: str, tmp_path: Path) -> None:
    shown = [ours + its for ours, its in zip(operator(6, (0, nodes(Healthy=8))), agent(tmp_path, 6), strict=True)]
    firing(tmp_path, shown, RULES[alert]["expr"], {60: 0, 300: 0})


def test_every_rule_is_tried_over_series_in_which_it_fires() -> None:
    assert {*AGENT, *OPERATOR} == set(RULES)
