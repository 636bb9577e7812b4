"""One job through all that may happen to agents: they fall silent, a GPU fails, its node is avoided and used again."""

import os
import signal
from typing import NamedTuple

from tests.cluster.scenario import node_marks
from tests.cluster.scenario.agents import NODES, SILENT_SECONDS, Agents
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, all_on, prefer_nodes, quickstart
from tests.cluster.scenario.node_marks import Looks
from tests.cluster.testbed.cluster import Cluster

LONG = {**NO_FAULTS, "STEPS": "2000"}


class Silence(NamedTuple):
    """While some agents are silent. told: of each node Unreachable with its reason, and Healthy."""

    told: dict[str, tuple[str, str, str]]
    attempt_after: int


class Story(NamedTuple):
    """What was seen on the way. sick: the node whose GPU failed. looks: of sick and another node that fails later,
    at moments: "capped", when only one may be tainted; "run out", when the first taint has; "over", in the end."""

    job: Job
    sick: str
    gpu_node: Fields
    attempt_before_hang: int
    incident: Fields
    status: Fields
    nodes: set[str]
    waits: str
    pinned: Fields
    gpu_node_after: Fields
    events: list[Fields]
    looks: dict[str, tuple[Looks, ...]]


def fall_silent(agents: Agents, job: Job) -> Silence:
    """Two agents of three fall silent under the job, and come back."""
    agents.wait_state("Healthy", *NODES)
    with agents.silenced("node2", "node3"):
        agents.wait_state("NotMeasured", "node2", "node3", timeout=3 * SILENT_SECONDS + 30)
        told = {node: (*agents.condition(node, "Unreachable"), agents.condition(node, "Healthy")[0]) for node in NODES}
        # What makes no restart now makes none later.
        step = job.status["step"]
        job.wait("to train on", lambda job: job.status.get("step", 0) > step + 20)
    after = job.status["attempt"]
    agents.wait_state("Healthy", *NODES)
    return Silence(told, after)


def long_job(cluster: Cluster, place: str) -> Job:
    """A job on two nodes that may also be on one; it trains."""
    manifest = quickstart("sick-gpu", env=LONG)
    prefer_nodes(manifest, *NODES)
    job = Job.apply(cluster, place, manifest)
    job.wait_saved(10)
    return job


def lose_a_gpu(cluster: Cluster, place: str, agents: Agents, job: Job) -> Story:
    """A GPU fails under the job, which then stands still; another node fails too, and a person cordons that one."""
    (victim,) = (found for found in job.ranks if found.rank == 2)
    sick = job.node_of(victim.worker)
    other = next(node for node in NODES if node not in {pod["spec"]["nodeName"] for pod in job.pods()})
    agents.lose(sick, victim.pid)
    agents.wait_state("Quarantined", sick)
    gpu_node, before_hang = agents.gpu_node(sick), job.status["attempt"]
    os.kill(victim.pid, signal.SIGSTOP)
    agents.fail(other)
    incident = job.wait("to be found to stand over hardware", Job.hardware_fault)
    agents.wait_state("Quarantined", other)
    job.wait("to train again", lambda job: job.status["attempt"] == 2 and job.status["state"] == "Running")
    status, nodes = job.status, {pod["spec"]["nodeName"] for pod in job.pods()}

    pinned = Job.apply(cluster, place, all_on(sick, quickstart("pinned", env=LONG)))
    waits = pinned.wait("to say what it may not use", lambda job: may_not_use(job, sick))

    def both() -> tuple[Looks, ...]:
        return tuple(node_marks.looks(cluster, node) for node in (sick, other))

    # It was quarantined first, so it is tainted first.
    cluster.wait_for(f"{sick} to be tainted", lambda _: both()[0].tainted)
    seen = {"capped": both()}
    cluster.kubectl("cordon", other)
    try:
        node_marks.let_taint_run_out(cluster, sick)
        cluster.wait_for(f"{other} to be tainted in place of {sick}", lambda _: both()[1].tainted)
        seen["run out"] = both()
        agents.heal(sick)
        agents.heal(other)
        pinned.wait("to train", lambda job: job.status.get("step"), timeout=150)
        cluster.wait_for("no mark to be left", lambda _: not any(look.marked for look in both()))
        seen["over"] = both()
    finally:
        cluster.kubectl("uncordon", other)
    return Story(
        job, sick, gpu_node, before_hang, incident, status, nodes, waits, pinned.status, agents.gpu_node(sick),
        agents.events(sick), seen,
    )  # fmt: skip


def may_not_use(job: Job, node: str) -> str:
    """What the condition Running says, where it names this node."""
    message = str(job.condition("Running").get("message", ""))
    return message if f"{node} (" in message.partition("may not use")[2] else ""
