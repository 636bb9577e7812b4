"""The alert rules are about metrics that there are, with labels and words that they have, and say what to look at.

They are read by a PromQL parser here; what they come to over series is in test_alert_series.py.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Any

import promql_parser as promql
import pytest
from ruamel.yaml import YAML

from hedgerow.wire_agent import HEALTHS
from hedgerow_agent import metrics as agent_metrics
from hedgerow_operator.api import gpu_node, reasons
from hedgerow_operator.core.watching.communication import Communication
from hedgerow_operator.server.metrics import Metrics
from tests.chart.rendering import CHART, only, render
from tests.unit.core.nodes.builders import LOST, report

FILE: dict[str, Any] = YAML(typ="safe", pure=True).load((CHART / "files" / "alerts.yaml").read_text())
RULES = {rule["alert"]: rule for group in FILE["groups"] for rule in group["rules"]}

# Alert -> its metric, a value that is fine, one that is not, how long that has to last, and how bad it is.
THRESHOLDS = {
    "HedgerowJobStalled": ("hedgerow_incidents_opened_total", 0, 1, "0s", "warning"),
    "HedgerowJobStaysStalled": ("hedgerow_jobs", 0, 1, "10m", "critical"),
    "HedgerowJobSlow": ("hedgerow_degraded_jobs", 0, 1, "2m", "warning"),
    "HedgerowBusBandwidthFell": ("hedgerow_job_bus_bandwidth_bytes_per_second", 1, 0.5, "10m", "warning"),
    "HedgerowGPUFailed": ("hedgerow_gpu_health", 0, 1, "1m", "critical"),
    "HedgerowGPUDegraded": ("hedgerow_gpu_health", 0, 1, "15m", "warning"),
    "HedgerowNodeQuarantined": ("hedgerow_nodes", 0, 1, "1m", "warning"),
    "HedgerowDriverSilent": ("hedgerow_agent_driver_answers", 1, 0, "5m", "warning"),
    "HedgerowAgentSilent": ("hedgerow_nodes", 0, 1, "5m", "warning"),
    "HedgerowNodesNotMeasured": ("hedgerow_nodes", 0, 1, "15m", "warning"),
    "HedgerowNobodyLeads": ("hedgerow_leader", 1, 0, "2m", "critical"),
}
COMPARISONS = {">": operator.gt, "<": operator.lt, "==": operator.eq}
NODE_STATES = {*gpu_node.TYPES, gpu_node.NOT_MEASURED, gpu_node.FAILED}


def selectors(expression: Any) -> Iterator[Any]:
    """Every selector of a series in a parsed expression."""
    if isinstance(expression, promql.VectorSelector):
        yield expression
    for name in ("lhs", "rhs", "expr", "vector_selector"):
        if hasattr(expression, name):
            yield from selectors(getattr(expression, name))
    for argument in getattr(expression, "args", None) or ():
        yield from selectors(argument)


def shown() -> dict[str, list[dict[str, str]]]:
    """Every series that an operator and an agent show, by name: its labels."""
    ours = Metrics()
    ours.jobs_by_state({"Running": 1, "Stalled": 1})
    ours.degraded_jobs(dict.fromkeys((reasons.SLOWER_THAN_BASELINE, reasons.SLOWER_THAN_PEERS,
                                      reasons.COMMUNICATION_SLOW), 1))  # fmt: skip
    ours.count_nodes = lambda: dict.fromkeys(NODE_STATES, 1)
    ours.communication = lambda: [("research", "llama", Communication(share=0.2, bus_bytes_per_second=4e11))]
    ours.leading(True)
    found: dict[str, list[dict[str, str]]] = {}
    for line in (ours.text().decode() + agent_metrics.text(report(LOST))).splitlines():
        if not line.startswith("#"):
            name, labels = re.fullmatch(r"([a-z_]+)(\{.*\})? \S+", line).groups()  # type: ignore[union-attr]
            found.setdefault(name, []).append(dict(re.findall(r'(\w+)="([^"]*)"', labels or "")))
    return found


def test_every_rule_has_its_threshold_in_the_table() -> None:
    assert set(RULES) == set(THRESHOLDS)


@pytest.mark.parametrize("alert", RULES)
def test_a_rule_fires_beyond_its_threshold_only(alert: str) -> None:
    metric, fine, bad, lasting, severity = THRESHOLDS[alert]
    parsed = promql.parse(RULES[alert]["expr"])
    assert {selector.name for selector in selectors(parsed)} == {metric}
    compare = COMPARISONS[str(parsed.op)]
    limit = parsed.rhs.val
    assert (compare(fine, limit), compare(bad, limit)) == (False, True)
    assert (RULES[alert].get("for", "0s"), RULES[alert]["labels"]["severity"]) == (lasting, severity)


@pytest.mark.parametrize("alert", RULES)
def test_what_a_rule_selects_is_shown(alert: str) -> None:
    series = shown()
    found = list(selectors(promql.parse(RULES[alert]["expr"])))
    assert found
    for selector in found:
        for matcher in selector.matchers.matchers:
            for word in matcher.value.split("|"):
                assert any(labels.get(matcher.name) == word for labels in series[selector.name]), (alert, word)
        assert series[selector.name]


def test_every_kind_of_standstill_is_told() -> None:
    (selector,) = selectors(promql.parse(RULES["HedgerowJobStalled"]["expr"]))
    (matcher,) = selector.matchers.matchers
    assert set(matcher.value.split("|")) == reasons.STALL_KINDS


def test_the_first_incident_of_a_kind_is_an_increase() -> None:
    kinds = {labels["kind"] for labels in shown()["hedgerow_incidents_opened_total"]}
    assert kinds == reasons.INCIDENT_KINDS


@pytest.mark.parametrize("alert", RULES)
def test_a_rule_speaks_only_of_labels_that_it_keeps(alert: str) -> None:
    words = " ".join(RULES[alert]["annotations"].values())
    kept = re.search(r"by \(([a-z_, ]*)\)", RULES[alert]["expr"])
    known = set(kept[1].split(", ")) if kept else {"kind"}
    assert set(re.findall(r"\$labels\.(\w+)", words)) <= known
    assert words.strip()


def test_the_agents_healths_are_the_ones_that_the_rules_know() -> None:
    assert {"Failed", "Degraded"} < set(HEALTHS)


def test_the_rules_are_installed_as_they_are() -> None:
    rule = only(render("alerts.kind=PrometheusRule", "alerts.labels.prometheus=main"), "PrometheusRule")
    file = only(render("alerts.kind=ConfigMap"), "ConfigMap", name="hedgerow-alerts")
    assert rule["metadata"]["labels"]["prometheus"] == "main"
    assert rule["spec"] == FILE
    assert YAML(typ="safe", pure=True).load(file["data"]["hedgerow.yaml"]) == FILE


def test_no_rules_are_installed_unless_they_are_asked_for() -> None:
    assert not {entry["kind"] for entry in render()} & {"PrometheusRule", "ConfigMap"}
