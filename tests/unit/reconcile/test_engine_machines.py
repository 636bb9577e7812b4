"""What the agents of nodes say enters a pass: nodes to avoid, what failed, and which rank is on which GPU."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import msgspec

from hedgerow.wire import Report
from hedgerow.wire_agent import AgentReport, GpuProcess
from hedgerow_operator.api.node_signals import NodeSignalSpec
from hedgerow_operator.api.status import IncidentGPU, TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.step import PLACING, RUNNING
from hedgerow_operator.reconcile.engine import Reconciler
from hedgerow_operator.reconcile.ports import Unreachable
from hedgerow_operator.reconcile.reports import ReportHub
from tests.unit.core.builders import UID, exited, make_job, make_rank, make_report
from tests.unit.core.nodes.builders import LOST, gpu, report
from tests.unit.reconcile.fakes import KEY, Calls, FakeJobs, FakeLeadership, FakeMetrics, FakeRuntime

NOW = 1_800_000_000.0
POD = {"spec": {"containers": [{"name": "trainer", "image": "x", "command": ["python"]}]}}


class FakeMachines:
    """reconcile.ports.Machines over some reports."""

    def __init__(self, *agents: AgentReport) -> None:
        self.agents = {agent.node: agent for agent in agents}
        self.asked: set[str] = set()

    def reports(self, names: Iterable[str]) -> Mapping[str, AgentReport]:
        self.asked.update(names)
        return {name: self.agents[name] for name in self.asked if name in self.agents}

    def sick(self, names: Iterable[str]) -> Mapping[str, AgentReport]:
        return {name: self.agents[name] for name in names if name in self.agents and self.agents[name].findings}

    def quarantined(self) -> Mapping[str, str]:
        return dict.fromkeys(self.agents, "Xid79")


class Runtime(FakeRuntime):
    """Remembers which nodes were to be avoided."""

    avoided: tuple[str, ...] = ()

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        self.avoided = excluded_nodes
        await super().create(job, attempt, excluded_nodes)


def pods(status: TrainingJobStatus) -> TrainingJob:
    """A job of one worker with four ranks on Kubernetes."""
    job = make_job(status=status)
    kube = make_job({"kubernetes": {"template": POD}}, local=None)
    return msgspec.structs.replace(job, spec=kube.spec)


async def a_pass(status: TrainingJobStatus, machines: FakeMachines, *launcher: Report) -> tuple[FakeJobs, Runtime]:
    """The job as it is after a pass that knows what its launcher said."""
    calls = Calls()
    jobs, runtime = FakeJobs(pods(status), calls), Runtime(calls)
    hub = ReportHub(clock=lambda: 100.0)
    engine = Reconciler(
        jobs, lambda job: runtime, hub, FakeLeadership(), lambda: NOW, FakeMetrics(), stopwatch=lambda: 100.0,
        machines=machines,
    )  # fmt: skip
    if launcher:
        runtime.attempts.add(1)
        await engine.reconcile(KEY)  # until then nobody listens for its launchers
    for said in launcher:
        hub.receive(said)
    await engine.reconcile(KEY)
    return jobs, runtime


async def test_a_placement_avoids_the_quarantined_nodes() -> None:
    placing = TrainingJobStatus(attempt=1, placement=1, attempt_stage=PLACING)
    _, runtime = await a_pass(placing, FakeMachines(report(LOST, node="node7")))
    assert runtime.avoided == ("node7",)


async def test_a_rank_that_ended_is_joined_to_the_gpu_that_failed() -> None:
    processes = [GpuProcess(9000, job=UID, rank=2)]
    sick = report(LOST, node="node1")
    sick = dataclasses.replace(sick, gpus=[gpu(index, processes=processes if index == 3 else []) for index in range(8)])
    ended = [exited(2, code=1, ago=20.0), *(make_rank(rank) for rank in (0, 1, 3))]
    running = TrainingJobStatus(attempt=1, placement=1, attempt_stage=RUNNING, step=36)
    machines = FakeMachines(sick)
    jobs, _ = await a_pass(running, machines, make_report(*ended, node="node1"))
    assert machines.asked == {"node1"}
    assert jobs.job is not None
    incident = jobs.job.status.incident
    assert incident is not None
    assert incident.gpu == IncidentGPU(index=3, uuid="GPU-3", pci="0000:03:00.0")
    assert incident.fault_class == "Hardware"


class FakeSignals:
    """reconcile.ports.Signals that says the same of one node to whoever listens to it."""

    def __init__(self, failing: bool = False) -> None:
        self.failing = failing

    async def against(self, specs: Iterable[NodeSignalSpec]) -> Mapping[str, str]:
        if self.failing:
            raise Unreachable("the API server is away")
        return {"node5": "it has the label bad"} if NodeSignalSpec(label="bad") in tuple(specs) else {}


async def places_with(signals: FakeSignals, *wanted: NodeSignalSpec) -> tuple[Calls, Runtime]:
    """A job that is to be placed, and listens to these."""
    calls = Calls()
    job = pods(TrainingJobStatus(attempt=1, placement=1, attempt_stage=PLACING))
    health = msgspec.structs.replace(job.spec.health, node_signals=wanted)
    job = msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, health=health))
    runtime = Runtime(calls)
    engine = Reconciler(
        FakeJobs(job, calls), lambda job: runtime, ReportHub(clock=lambda: 100.0), FakeLeadership(), lambda: NOW,
        FakeMetrics(), stopwatch=lambda: 100.0, signals=signals,
    )  # fmt: skip
    await engine.reconcile(KEY)
    return calls, runtime


async def test_a_placement_avoids_the_nodes_that_others_speak_against() -> None:
    _, runtime = await places_with(FakeSignals(), NodeSignalSpec(label="bad"))
    assert runtime.avoided == ("node5",)


async def test_a_job_that_does_not_listen_to_them_does_not() -> None:
    calls, runtime = await places_with(FakeSignals())
    assert runtime.avoided == ()
    assert "create" in calls.made


async def test_while_it_cannot_be_asked_what_they_say_nothing_is_placed() -> None:
    calls, _ = await places_with(FakeSignals(failing=True), NodeSignalSpec(label="bad"))
    assert "create" not in calls.made
