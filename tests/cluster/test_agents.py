"""Agents on real nodes: a GPU fails under a job, its node is avoided and used again; silent agents restart nothing."""

import os
import signal
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.cluster.scenario.agents import NODES, SICK_GPU, SILENT_SECONDS, Agents
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, all_on, quickstart
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster

# One job lives through the whole story before the first test.
pytestmark = pytest.mark.timeout(600)

LONG = {**NO_FAULTS, "STEPS": "2000"}


class Story(NamedTuple):
    """What was seen on the way. sick: the node whose GPU failed."""

    job: Job
    silent: dict[str, tuple[str, str, str]]
    attempt_after_silence: int
    sick: str
    gpu_node: Fields
    attempt_before_hang: int
    incident: Fields
    status: Fields
    nodes: set[str]
    pinned_waited: bool
    pinned: Fields
    gpu_node_after: Fields


@pytest.fixture(scope="module")
def agents(operator: InstalledOperator) -> Iterator[Agents]:
    """An agent on every node; afterwards Hedgerow is as it was."""
    found = Agents(operator)
    found.install()
    yield found
    operator.install()


@pytest.fixture(scope="module")
def story(cluster: Cluster, agents: Agents, place: str) -> Story:
    """One job through all of it."""
    agents.wait_state("Healthy", *NODES)
    job = Job.apply(cluster, place, quickstart("sick-gpu", env=LONG))
    job.wait_saved(10)

    with agents.silenced("node2", "node3"):
        agents.wait_state("NotMeasured", "node2", "node3", timeout=3 * SILENT_SECONDS + 30)
        silent = {
            node: (*agents.condition(node, "Unreachable"), agents.condition(node, "Healthy")[0]) for node in NODES
        }
        # What makes no restart now makes none later.
        step = job.status["step"]
        job.wait("to train on", lambda job: job.status.get("step", 0) > step + 20)
    after_silence = job.status["attempt"]
    agents.wait_state("Healthy", *NODES)

    (victim,) = (found for found in job.ranks if found.rank == 2)
    (sick,) = (pod["spec"]["nodeName"] for pod in job.pods() if worker_of(pod) == victim.worker)
    agents.lose(sick, victim.pid)
    agents.wait_state("Quarantined", sick)
    gpu_node, before_hang = agents.gpu_node(sick), job.status["attempt"]
    os.kill(victim.pid, signal.SIGSTOP)
    incident = job.wait("to have an incident", lambda job: job.status.get("incident"))
    job.wait("to train again", lambda job: job.status["attempt"] == 2 and job.status["state"] == "Running")
    status, nodes = job.status, {pod["spec"]["nodeName"] for pod in job.pods()}

    pinned = Job.apply(cluster, place, all_on(sick, quickstart("pinned", env=LONG)))
    waited = pinned.wait("to wait for room", unschedulable)
    agents.heal(sick)
    pinned.wait("to train", lambda job: job.status.get("step"), timeout=150)
    return Story(
        job, silent, after_silence, sick, gpu_node, before_hang, incident, status, nodes, waited, pinned.status,
        agents.gpu_node(sick),
    )  # fmt: skip


def said_of(agents: Agents, node: str) -> tuple[str, str, str]:
    """Unreachable with its reason, and Healthy."""
    return (*agents.condition(node, "Unreachable"), agents.condition(node, "Healthy")[0])


def worker_of(pod: Fields) -> int:
    """The worker that a pod is."""
    return int(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])


def unschedulable(job: Job) -> bool:
    """Whether the scheduler has found no node for any pod of it."""
    conditions = [entry for pod in job.pods() for entry in pod["status"].get("conditions", [])]
    return any(entry.get("reason") == "Unschedulable" for entry in conditions)


def test_half_of_the_agents_silent_at_once_is_not_measured_and_restarts_nothing(story: Story) -> None:
    for node in ("node2", "node3"):
        assert story.silent[node] == ("Unknown", "AgentsSilent", "Unknown")
    assert story.silent["node1"] == ("False", "AgentHeard", "True")
    assert story.attempt_after_silence == 1, story.job.story()


def test_the_gpu_node_says_which_gpu_failed_and_what_it_asks_for(story: Story) -> None:
    found = story.gpu_node
    assert (found["state"], found["gpusHealthy"]) == ("Quarantined", "7/8")
    sick = next(entry for entry in found["gpus"] if entry["index"] == SICK_GPU)
    assert sick["health"] == "Failed"
    assert "reboot of the node" in found["drainReason"]
    assert found["quarantine"]["gpus"] == [SICK_GPU]


def test_a_failed_gpu_alone_restarts_no_job_that_goes_on(story: Story) -> None:
    assert story.attempt_before_hang == 1


def test_with_a_standstill_it_is_decisive_and_the_gpu_of_the_rank_is_named(story: Story) -> None:
    assert (story.incident["kind"], story.incident["node"]) == ("HardwareFault", story.sick), story.job.story()
    assert story.incident["ranks"] == [2]
    assert story.incident["gpu"]["index"] == SICK_GPU
    assert story.incident["gpu"]["pci"] == "0000:04:00.0"


def test_the_job_goes_on_elsewhere(story: Story) -> None:
    (entry,) = story.status["history"]
    assert (entry["reason"], entry["class"], entry["node"]) == ("HardwareFault", "Hardware", story.sick)
    assert story.sick not in story.nodes
    assert story.status["resumeStep"] >= 10


def test_the_node_is_used_again_when_its_quarantine_is_over(story: Story) -> None:
    assert story.pinned_waited
    assert story.pinned["step"] >= 1
    assert story.gpu_node_after["state"] == "Healthy"
    assert "quarantine" not in story.gpu_node_after
    assert "drainReason" not in story.gpu_node_after


def test_two_attempts_were_never_alive_at_once(story: Story, watch: AttemptWatch) -> None:
    watch.check(story.job.uid)
