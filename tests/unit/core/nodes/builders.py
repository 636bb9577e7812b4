"""Reports of agents and nodes of tests."""

from __future__ import annotations

import dataclasses
from typing import Any

from hedgerow.wire_agent import (
    ACTION_REBOOT,
    ACTION_RESET,
    DEGRADED,
    FAILED,
    HEALTHY,
    AgentReport,
    DriverReport,
    Finding,
    GpuReport,
    worst,
)
from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.gpu_node import GPUNodeStatus
from hedgerow_operator.core.nodes.decide import decide
from hedgerow_operator.core.nodes.seen import NodeRules, NodeSeen

NOW = 1_767_322_800.0
RULES = NodeRules(silent_seconds=30.0, quarantine_seconds=600.0, expiry_seconds=86400.0)

LOST = Finding("xid", FAILED, "Xid79", ACTION_REBOOT, "Xid 79 (GPU has fallen off the bus), 2 times", 3, 1.0)
REMAP = Finding("remap", DEGRADED, "RowRemapPending", ACTION_RESET, "4 rows wait to be remapped", 2, 1.0)


def gpu(index: int, **changes: Any) -> GpuReport:
    """A healthy GPU."""
    return GpuReport(index, uuid=f"GPU-{index}", pci=f"0000:0{index}:00.0", name="NVIDIA A100", **changes)


def report(*findings: Finding, node: str = "node-1", gpus: int = 8, **changes: Any) -> AgentReport:
    """What an agent says that has found this."""
    healths = {index: worst([entry.health for entry in findings if entry.gpu == index]) for index in range(gpus)}
    made = AgentReport(
        node=node,
        boot="boot",
        agent="agent",
        seq=1,
        sent_monotonic=1.0,
        sent_wall=NOW,
        health=worst([entry.health for entry in findings] or [HEALTHY]),
        gpus=[gpu(index, health=health) for index, health in healths.items()],
        findings=list(findings),
        driver=DriverReport(version="550.54", expected=gpus),
    )
    return dataclasses.replace(made, **changes)


def after(
    status: GPUNodeStatus,
    heard: AgentReport | None = None,
    age: float | None = 1.0,
    now: float = NOW,
    listening: float = 1000.0,
    others: str = "",
    rules: NodeRules = RULES,
) -> GPUNodeStatus:
    """The status after a look."""
    seen = NodeSeen(report=heard, age=age if heard is not None else None, listening_seconds=listening, others=others)
    return decide(status, seen, rules, now).status


def told(status: GPUNodeStatus, kind: str) -> tuple[str, str]:
    """Status and reason of a condition."""
    condition = find_condition(status.conditions, kind)
    return (condition.status, condition.reason) if condition else ("", "")
