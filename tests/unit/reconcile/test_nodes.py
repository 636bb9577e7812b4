"""A pass over a GPUNode: made when its agent is first heard, written seldom, by the leader only."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from hedgerow_operator.api.gpu_node import GPUNode, GPUNodeMeta, GPUNodeStatus
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.reconcile.nodes import RETRY_SECONDS, WRITE_SECONDS, NodeReconciler
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Unreachable
from tests.unit.core.nodes.builders import LOST, RULES, report
from tests.unit.reconcile.fakes import Calls, FakeLeadership

NODE = JobKey("", "node-1")


class FakeGPUNodes:
    """reconcile.nodes.GPUNodes. machines: the nodes that exist."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.stored: dict[str, GPUNode] = {}
        self.told: list[tuple[str, str]] = []
        self.machines = {"node-1", "node-2", "node-3"}

    async def existing(self) -> list[GPUNode]:
        self.calls.make("existing")
        return list(self.stored.values())

    async def get(self, name: str) -> GPUNode | None:
        self.calls.make("get")
        return self.stored.get(name)

    async def create(self, name: str) -> GPUNode | None:
        self.calls.make("create")
        if name not in self.machines:
            return None
        self.stored[name] = GPUNode(metadata=GPUNodeMeta(name=name, resource_version="1"))
        return self.stored[name]

    async def write_status(self, node: GPUNode, status: GPUNodeStatus) -> GPUNode:
        self.calls.make("write_status")
        self.stored[node.metadata.name] = msgspec.structs.replace(node, status=status)
        return self.stored[node.metadata.name]

    async def record(self, node: GPUNode, event: Event) -> None:
        self.calls.make("record")
        self.told.append((node.metadata.name, event.reason))


class Scene:
    """A reconciler over pretended nodes, and the time."""

    def __init__(self, looks: int = 1_000_000) -> None:
        self.now = 1000.0
        self.calls = Calls()
        self.nodes = FakeGPUNodes(self.calls)
        self.hub = AgentHub(clock=lambda: self.now)
        self.seq = 0
        self.woken: list[str] = []
        self.begin(looks)

    def begin(self, looks: int = 1_000_000) -> None:
        """A new operator."""
        since = self.now
        self.reconciler = NodeReconciler(
            self.nodes, self.hub, FakeLeadership(looks), lambda: self.now, lambda: self.now - since, RULES,
            stopwatch=lambda: self.now,
        )  # fmt: skip
        self.reconciler.on_quarantine = self.woken.append

    def hear(self, *findings: object, node: str = "node-1") -> None:
        """The agent of a node reports this."""
        self.seq += 1
        self.hub.receive(dataclasses.replace(report(*findings, node=node), seq=self.seq))  # type: ignore[arg-type]

    async def look(self, seconds: float = 0.0, name: str = "node-1") -> float | None:
        """A pass, so many seconds later."""
        self.now += seconds
        return await self.reconciler.reconcile(JobKey("", name))

    def state(self, name: str = "node-1") -> str:
        """What is stored."""
        return self.nodes.stored[name].status.state


async def test_a_node_is_made_when_its_agent_is_first_heard() -> None:
    scene = Scene()
    scene.hear()
    await scene.look()
    assert scene.calls.made == ["get", "create", "write_status"]
    assert scene.state() == "Healthy"


async def test_nothing_is_made_for_a_node_that_does_not_exist() -> None:
    scene = Scene()
    scene.nodes.machines.clear()
    scene.hear()
    assert await scene.look() is None
    assert scene.hub.newest("node-1") is None


async def test_a_node_that_says_the_same_costs_no_call() -> None:
    scene = Scene()
    scene.hear()
    await scene.look()
    scene.calls.made.clear()
    for _ in range(20):
        scene.hear()
        await scene.look(15.0)
    assert scene.calls.made == []


async def test_a_node_is_written_at_most_every_ten_seconds_and_jobs_know_at_once() -> None:
    scene = Scene()
    scene.hear()
    await scene.look()
    scene.hear(LOST)
    again = await scene.look(1.0)
    assert scene.state() == "Healthy"
    assert again == WRITE_SECONDS - 1.0
    assert scene.reconciler.quarantined() == {"node-1": "Xid79"}
    assert scene.woken == ["node-1"]
    await scene.look(again)
    assert scene.state() == "Quarantined"
    assert scene.woken == ["node-1"]


async def test_only_the_leader_writes() -> None:
    scene = Scene(looks=0)
    scene.hear()
    assert await scene.look() == RETRY_SECONDS
    assert scene.calls.made == []


async def test_one_that_loses_the_lease_in_a_pass_does_not_write() -> None:
    scene = Scene(looks=1)
    scene.hear()
    await scene.look()
    assert "write_status" not in scene.calls.made


async def test_a_node_that_somebody_else_changed_is_read_again() -> None:
    scene = Scene()
    scene.hear()
    scene.calls.failures["write_status"] = Conflict("changed")
    soon = await scene.look()
    assert soon is not None
    assert soon < 1.0
    scene.calls.failures.clear()
    scene.calls.made.clear()
    await scene.look(soon)
    assert scene.calls.made == ["get", "write_status"]


async def test_an_api_server_that_is_away_is_asked_again() -> None:
    scene = Scene()
    scene.hear()
    scene.calls.failures["get"] = Unreachable("away")
    assert await scene.look() == RETRY_SECONDS


async def test_a_quarantine_outlives_the_operator() -> None:
    scene = Scene()
    scene.hear(LOST)
    await scene.look()
    scene.hub = AgentHub(clock=lambda: scene.now)
    scene.begin()
    assert await scene.reconciler.load() == (NODE,)
    assert scene.reconciler.quarantined() == {"node-1": "Xid79"}
    await scene.look(5.0)
    assert scene.state() == "Quarantined"


async def test_a_node_whose_quarantine_is_over_is_used_again() -> None:
    scene = Scene()
    scene.hear(LOST)
    await scene.look()
    for _ in range(3):
        scene.now += RULES.quarantine_seconds / 2 + 20
        scene.hear()
        await scene.look()
    assert scene.reconciler.quarantined() == {}
    assert scene.woken == ["node-1", "node-1"]


@pytest.mark.parametrize(("heard", "want"), [(("node-2", "node-3"), "Unreachable"), ((), "NotMeasured")])
async def test_a_silent_node_is_unreachable_only_where_the_others_are_heard(heard: tuple[str, ...], want: str) -> None:
    scene = Scene()
    for name in ("node-1", "node-2", "node-3"):
        scene.hear(node=name)
        await scene.look(name=name)
    scene.now += 60.0
    for name in heard:
        scene.hear(node=name)
    await scene.look()
    assert scene.state() == want


async def test_an_agent_that_was_silent_is_news_when_it_is_heard_again_whatever_it_says() -> None:
    scene = Scene()
    news: list[str] = []
    scene.hub.on_news = news.append
    scene.hear()
    await scene.look()
    await scene.look(RULES.silent_seconds + 1)
    assert scene.state() == "NotMeasured"
    news.clear()
    scene.hear()
    assert news == ["node-1"]
    await scene.look(WRITE_SECONDS)
    assert scene.state() == "Healthy"
    scene.hear()
    assert news == ["node-1"]


async def test_jobs_hear_of_a_fatal_finding_as_long_as_it_stands() -> None:
    scene = Scene()
    scene.hear(LOST)
    await scene.look()
    assert set(scene.reconciler.sick(["node-1", "node-2"])) == {"node-1"}
    assert scene.reconciler.sick(["node-2"]) == {}
    scene.hear()
    await scene.look(1.0)
    assert scene.reconciler.sick(["node-1"]) == {}


async def test_jobs_get_no_report_of_a_silent_agent() -> None:
    scene = Scene()
    scene.hear()
    assert set(scene.reconciler.reports(["node-1", "node-2"])) == {"node-1"}
    scene.now += RULES.silent_seconds + 1
    assert scene.reconciler.reports(["node-1"]) == {}


async def test_agents_that_fall_silent_together_are_not_called_unreachable_one_after_the_other() -> None:
    scene = Scene()
    names = ("node-1", "node-2", "node-3")
    for name in names:
        scene.hear(node=name)
        await scene.look(name=name)
    scene.now += 4.0
    scene.hear(node="node-2")
    for _ in range(40):
        scene.now += 1.0
        scene.hear(node="node-3")
        for name in names:
            await scene.look(name=name)
    assert [scene.state(name) for name in names] == ["NotMeasured", "NotMeasured", "Healthy"]


async def test_people_are_told_after_the_write_and_once_whatever_operator_leads() -> None:
    scene = Scene()
    scene.hear(LOST)
    scene.calls.failures["write_status"] = Unreachable("away")
    await scene.look()
    assert scene.nodes.told == []
    scene.calls.failures.clear()
    await scene.look(1.0)
    assert scene.calls.made[-2:] == ["write_status", "record"]
    scene.begin()
    await scene.reconciler.load()
    scene.hear(LOST)
    await scene.look(20.0)
    for _ in range(2):
        scene.now += RULES.quarantine_seconds + 20
        scene.hear()
        await scene.look()
    assert scene.nodes.told == [("node-1", "Quarantined"), ("node-1", "Released")]


async def test_nodes_are_counted_by_their_state() -> None:
    scene = Scene()
    assert scene.reconciler.states() == {}
    for name, findings in (("node-1", [LOST]), ("node-2", []), ("node-3", [])):
        scene.hear(*findings, node=name)
        await scene.look(name=name)
    assert (scene.reconciler.states(), scene.reconciler.fleet) == ({"Quarantined": 1, "Healthy": 2}, 3)
