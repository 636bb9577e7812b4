"""On a node only what is ours is changed: other people's taints, cordons, labels and annotations stay as they are."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.node_taints import KubeNodeTaints, mark_of
from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core.nodes.taints import Mark
from hedgerow_operator.reconcile.ports import Conflict, Unreachable
from tests.unit.kube.store import OUTAGE, Store

PATH = "/api/v1/nodes/a"
SICK = Quarantine(reason="Xid79", since="2026-01-02T03:04:05Z")
UNTIL = parse_time("2026-01-03T03:04:05Z")
OURS = {"key": "hedgerow.dev/quarantined", "value": "Xid79", "effect": "NoSchedule"}
THEIRS = [
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
    {"key": "nvidia.com/gpu-xid-error", "value": "true", "effect": "NoSchedule"},
    {"key": "hedgerow.dev/quarantined", "value": "mine", "effect": "NoExecute"},
]
NODE: dict[str, Any] = {
    "metadata": {"name": "a", "uid": "u", "labels": {"pool": "gpu"}, "annotations": {"note": "kept"}},
    "spec": {"unschedulable": True, "taints": THEIRS, "podCIDR": "10.0.0.0/24"},
    "status": {"conditions": []},
}


@pytest.fixture
def store() -> Store:
    store = Store()
    store.put(PATH, NODE)
    return store


@pytest.fixture
def taints(store: Store) -> KubeNodeTaints:
    return KubeNodeTaints(cast("Api", store))


def now(store: Store) -> dict[str, Any]:
    """The node as it is stored, without its version."""
    node = copy.deepcopy(store.objects[PATH])
    node["metadata"].pop("resourceVersion")
    return node


async def test_a_taint_is_put_beside_those_of_others_and_marked_as_ours(store: Store, taints: KubeNodeTaints) -> None:
    await taints.taint("a", SICK, UNTIL)
    assert now(store)["spec"] == {**NODE["spec"], "taints": [*THEIRS, OURS]}
    assert await taints.marks() == {"a": Mark(cause=SICK.since, until=UNTIL, tainted=True)}


async def test_what_is_ours_goes_without_a_trace_and_all_else_stays(store: Store, taints: KubeNodeTaints) -> None:
    await taints.taint("a", SICK, UNTIL)
    await taints.clear("a")
    assert now(store) == NODE
    assert await taints.marks() == {}


async def test_what_others_did_since_stays_when_ours_goes(store: Store, taints: KubeNodeTaints) -> None:
    await taints.taint("a", SICK, UNTIL)
    node = now(store)
    node["spec"]["taints"].insert(0, {"key": "drain", "effect": "NoExecute"})
    store.put(PATH, node)
    await taints.clear("a")
    assert now(store)["spec"]["taints"] == [{"key": "drain", "effect": "NoExecute"}, *THEIRS]
    assert now(store)["spec"]["unschedulable"]


async def test_released_only_the_mark_stays(store: Store, taints: KubeNodeTaints) -> None:
    await taints.taint("a", SICK, UNTIL)
    await taints.release("a")
    assert now(store)["spec"] == NODE["spec"]
    assert await taints.marks() == {"a": Mark(cause=SICK.since, until=UNTIL, tainted=False)}


FOREIGN: dict[str, dict[str, Any]] = {
    "our taint, put on by hand": {"spec": {"taints": [OURS]}},
    "our label alone": {"metadata": {"labels": {"hedgerow.dev/tainted": "true"}}, "spec": {"taints": [OURS]}},
    "our annotation alone": {
        "metadata": {"annotations": {"hedgerow.dev/taint-cause": SICK.since}},
        "spec": {"taints": [OURS]},
    },
    "our label with another value": {
        "metadata": {
            "labels": {"hedgerow.dev/tainted": "no"},
            "annotations": {"hedgerow.dev/taint-cause": SICK.since},
        },
        "spec": {"taints": [OURS]},
    },
}


@pytest.mark.parametrize("more", FOREIGN.values(), ids=FOREIGN)
async def test_what_is_not_wholly_ours_is_left_alone(
    store: Store, taints: KubeNodeTaints, more: dict[str, Any]
) -> None:
    node = {"metadata": {"name": "a", **more.get("metadata", {})}, "spec": more["spec"]}
    store.put(PATH, node)
    for call in (taints.clear("a"), taints.release("a"), taints.taint("a", SICK, UNTIL)):
        await call
    assert now(store) == node
    assert await taints.marks() == {}


async def test_what_changed_since_it_was_read_is_not_written_over(store: Store, taints: KubeNodeTaints) -> None:
    class Racing(Store):
        async def find(self, path: str) -> dict[str, Any] | None:
            found = await super().find(path)
            self.put(path, {**NODE, "spec": {"taints": [*THEIRS, {"key": "late", "effect": "NoSchedule"}]}})
            return found

    racing = Racing()
    racing.put(PATH, NODE)
    with pytest.raises(Conflict):
        await KubeNodeTaints(cast("Api", racing)).taint("a", SICK, UNTIL)
    assert racing.objects[PATH]["spec"]["taints"][-1]["key"] == "late"


async def test_a_node_that_is_gone_needs_nothing(taints: KubeNodeTaints) -> None:
    for call in (taints.clear("b"), taints.release("b"), taints.taint("b", SICK, UNTIL)):
        await call


FAILURES = {"an outage": OUTAGE, "a missing right": Rejected(403, "Forbidden", "no right")}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_where_nothing_can_be_read_nothing_is_known(
    store: Store, taints: KubeNodeTaints, failure: Exception
) -> None:
    store.failing = failure
    for call in (taints.marks, lambda: taints.clear("a"), lambda: taints.taint("a", SICK, UNTIL)):
        with pytest.raises(Unreachable):
            await call()


def test_a_time_that_nobody_can_read_is_none() -> None:
    metadata = {
        "labels": {"hedgerow.dev/tainted": "true"},
        "annotations": {"hedgerow.dev/taint-cause": "x", "hedgerow.dev/taint-until": "soon"},
    }
    assert mark_of({"metadata": metadata}) == Mark(cause="x", until=None, tainted=False)
