"""What others write on nodes is listed once, then watched, and only what some job wants to know is kept."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.node_signals import LIST_SECONDS, NodeSignals
from hedgerow_operator.adapters.kube.nodes import Nodes
from hedgerow_operator.api.node_signals import NodeSignalSpec
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.kube.store import OUTAGE, Store
from tests.unit.kube.test_leader import Clock

BAD = [NodeSignalSpec(label="health=bad")]
DEADLOCK = [NodeSignalSpec(condition_type="KernelDeadlock")]
SAID = "it has the label health=bad"


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


@pytest.fixture
def store() -> Store:
    found = Store()
    found.put("/api/v1/nodes/node1", node("node1", health="good"))
    found.put("/api/v1/nodes/node2", node("node2", health="bad"))
    return found


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def signals(store: Store, clock: Clock) -> NodeSignals:
    return NodeSignals(cast("Api", store), clock)


async def test_the_nodes_that_it_is_said_of_are_found(signals: NodeSignals) -> None:
    assert await signals.against(BAD) == {"node2": SAID}


async def test_conditions_taints_and_labels_are_read_where_kubernetes_keeps_them(
    store: Store, signals: NodeSignals
) -> None:
    store.put(
        "/api/v1/nodes/node3",
        node("node3", health="bad")
        | {
            "spec": {"taints": [{"key": "example.org/broken", "effect": "NoSchedule"}]},
            "status": {"conditions": [{"type": "KernelDeadlock", "status": "True", "reason": "DockerHung"}]},
        },
    )
    found = await signals.against([*DEADLOCK, NodeSignalSpec(taint_key="example.org/broken"), *BAD])
    assert found["node3"] == (
        f"its condition KernelDeadlock is True (DockerHung); it has the taint example.org/broken; {SAID}"
    )


async def test_a_job_that_listens_to_nothing_costs_nothing(store: Store, signals: NodeSignals) -> None:
    assert not signals.watched("node2", node("node2", health="bad"))
    assert await signals.against([]) == {}
    assert store.calls == []


async def test_once_the_watch_tells_nothing_is_listed_any_more(
    store: Store, signals: NodeSignals, clock: Clock
) -> None:
    await signals.against(BAD)
    assert signals.watched("node2", node("node2", health="good"))
    assert signals.watched("node1", node("node1", health="bad"))
    clock.now += 10 * LIST_SECONDS
    assert await signals.against(BAD) == {"node1": SAID}
    assert signals.watched("node1", None)
    assert await signals.against(BAD) == {}
    assert len(store.calls) == 1


async def test_what_another_job_wants_to_know_is_listed_anew(store: Store, signals: NodeSignals) -> None:
    await signals.against(BAD)
    await signals.against(DEADLOCK)
    assert await signals.against(BAD) == {"node2": SAID}
    assert len(store.calls) == 2


async def test_without_a_watch_nodes_are_listed_from_time_to_time(
    store: Store, signals: NodeSignals, clock: Clock
) -> None:
    await signals.against(BAD)
    store.put("/api/v1/nodes/node2", node("node2", health="good"))
    clock.now += LIST_SECONDS
    assert await signals.against(BAD) == {}


async def test_without_the_right_to_look_nothing_is_said_of_any_node(store: Store, signals: NodeSignals) -> None:
    store.failing = Rejected(403, "Forbidden", "no right")
    assert await signals.against(BAD) == {}


async def test_an_outage_is_not_an_answer_and_what_comes_after_it_is_listed(store: Store, signals: NodeSignals) -> None:
    store.failing = OUTAGE
    with pytest.raises(Unreachable):
        await signals.against(BAD)
    store.failing = None
    signals.watched("node1", node("node1"))
    assert await signals.against(BAD) == {"node2": SAID}


async def test_the_watch_says_that_jobs_on_the_node_are_to_be_looked_at(store: Store, clock: Clock) -> None:
    nodes = Nodes(cast("Api", store), clock)
    await nodes.signals.against(BAD)
    told = [nodes.watched("node1", node("node1", **labels)) for labels in ({}, {"health": "bad"}, {"health": "bad"})]
    assert told == [False, True, False]
