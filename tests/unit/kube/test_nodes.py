"""Bad news about a node is believed only when the API server itself confirms it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.nodes import LOOKUP_SECONDS, NodeFacts, Nodes, node_facts
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.kube.store import OUTAGE, Store
from tests.unit.kube.test_leader import Clock

PATH = "/api/v1/nodes/node1"


def node(ready: str = "True", *taints: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "node1"},
        "spec": {"taints": [{"key": taint} for taint in taints]},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


CASES: dict[str, tuple[dict[str, Any], NodeFacts]] = {
    "ready": (node(), NodeFacts()),
    "not ready, but its kubelet says so itself": (node("False", "node.kubernetes.io/not-ready"), NodeFacts()),
    "its kubelet has gone silent": (node("Unknown"), NodeFacts(silent=True)),
    "tainted as unreachable": (node("Unknown", "node.kubernetes.io/unreachable"), NodeFacts(silent=True)),
    "declared out of service by a person": (
        node("Unknown", "node.kubernetes.io/out-of-service"),
        NodeFacts(silent=True, gone=True),
    ),
    "cordoned by somebody: none of our business": (node("True", "node.kubernetes.io/unschedulable"), NodeFacts()),
    "without any condition: nothing known against it": ({"metadata": {"name": "node1"}}, NodeFacts()),
}


@pytest.mark.parametrize("case", CASES)
def test_facts_of_a_node(case: str) -> None:
    given, expected = CASES[case]
    assert node_facts(given) == expected


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def nodes(store: Store, clock: Clock) -> Nodes:
    return Nodes(cast("Api", store), clock)


async def facts(nodes: Nodes) -> NodeFacts:
    return (await nodes.facts(["node1", "node1"]))["node1"]


async def test_a_node_that_the_watch_shows_to_be_fine_is_not_asked_for(store: Store, nodes: Nodes) -> None:
    nodes.watched("node1", node())
    assert await facts(nodes) == NodeFacts()
    assert store.calls == []


async def test_a_node_that_the_watch_shows_to_be_silent_is_asked_for(store: Store, nodes: Nodes) -> None:
    nodes.watched("node1", node("Unknown"))
    store.put(PATH, node())
    assert await facts(nodes) == NodeFacts()


async def test_a_silent_node_is_asked_for_each_time(store: Store, nodes: Nodes) -> None:
    store.put(PATH, node("Unknown"))
    assert (await facts(nodes)).silent
    store.put(PATH, node())
    assert not (await facts(nodes)).silent


async def test_a_node_that_nobody_knows_is_gone(nodes: Nodes) -> None:
    assert (await facts(nodes)).gone


async def test_a_deleted_node_is_gone_only_if_it_has_not_come_back(store: Store, nodes: Nodes) -> None:
    nodes.watched("node1", node())
    nodes.watched("node1", None)
    store.put(PATH, node())
    assert not (await facts(nodes)).gone


async def test_without_a_watch_a_fine_node_is_asked_for_every_few_seconds_only(
    store: Store, nodes: Nodes, clock: Clock
) -> None:
    store.put(PATH, node())
    for _ in range(3):
        await facts(nodes)
    assert len(store.calls) == 1
    clock.now += LOOKUP_SECONDS
    await facts(nodes)
    assert len(store.calls) == 2


async def test_without_the_right_to_look_nothing_bad_is_concluded(store: Store, nodes: Nodes) -> None:
    store.failing = Rejected(403, "Forbidden", "no right")
    assert await facts(nodes) == NodeFacts()


async def test_an_outage_is_not_a_dead_node(store: Store, nodes: Nodes) -> None:
    store.failing = OUTAGE
    with pytest.raises(Unreachable):
        await facts(nodes)


def test_the_watch_says_when_something_changes(nodes: Nodes) -> None:
    told = [nodes.watched("node1", seen) for seen in (node(), node(), node("Unknown"), node("Unknown"), node(), None)]
    assert told == [False, False, True, False, True, True]
