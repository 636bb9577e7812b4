"""dcgm-exporters in place of our agent on real nodes: a fatal Xid that one shows has its node avoided and says why."""

import os
import signal
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.cluster.scenario.agents import NODES, SILENT_SECONDS, Agents
from tests.cluster.scenario.exporters import NAMESPACE, SICK_GPU, Exporters
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, quickstart
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster

pytestmark = pytest.mark.timeout(400)

LONG = {**NO_FAULTS, "STEPS": "2000"}


class Story(NamedTuple):
    """What was seen on the way. sick: the node whose GPU failed; mute: the one whose exporter broke down."""

    job: Job
    sick: str
    gpu_node: Fields
    incident: Fields
    status: Fields
    nodes: set[str]
    mute: tuple[str, str, str]


@pytest.fixture(scope="module")
def exporters(operator: InstalledOperator) -> Iterator[Exporters]:
    """An exporter on every node, and no agent; afterwards Hedgerow is as it was."""
    found = Exporters(operator)
    found.install()
    yield found
    operator.install()
    found.remove()


@pytest.fixture(scope="module")
def story(cluster: Cluster, operator: InstalledOperator, exporters: Exporters, place: str) -> Story:
    """One job through all of it."""
    seen = Agents(operator)
    seen.wait_state("Healthy", *NODES)
    job = Job.apply(cluster, place, quickstart("exported-gpu", env=LONG))
    job.wait_saved(10)
    (victim,) = (found for found in job.ranks if found.rank == 2)
    (pod,) = (pod for pod in job.pods() if _worker_of(pod) == victim.worker)
    sick = pod["spec"]["nodeName"]
    exporters.serve(sick, xid=79, namespace=place, pod=pod["metadata"]["name"])
    seen.wait_state("Quarantined", sick)
    gpu_node = seen.gpu_node(sick)
    os.kill(victim.pid, signal.SIGSTOP)
    incident = job.wait("to have an incident", lambda job: job.status.get("incident"))
    job.wait("to train again", lambda job: job.status["attempt"] == 2 and job.status["state"] == "Running")
    status, nodes = job.status, {pod["spec"]["nodeName"] for pod in job.pods()}
    mute = next(node for node in NODES if node != sick)
    exporters.break_down(mute)
    seen.wait_state("Unreachable", mute, timeout=3 * SILENT_SECONDS + 30)
    told = (*seen.condition(mute, "Unreachable"), seen.condition(mute, "Healthy")[0])
    return Story(job, sick, gpu_node, incident, status, nodes, told)


def _worker_of(pod: Fields) -> int:
    return int(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])


def test_the_gpu_node_says_which_gpu_failed_why_and_what_it_asks_for(story: Story) -> None:
    found = story.gpu_node
    assert (found["state"], found["gpusHealthy"], found["quarantine"]["gpus"]) == ("Quarantined", "7/8", [SICK_GPU])
    sick = next(entry for entry in found["gpus"] if entry["index"] == SICK_GPU)
    assert (sick["health"], sick["reason"], sick["xid"]["code"]) == ("Failed", "Xid79", 79)
    assert "Xid79 on GPU 3 asks for a reboot of the node" in found["drainReason"]
    assert found["driverVersion"] == "550.54.15"


def test_a_standstill_of_the_rank_that_uses_it_is_a_fault_of_the_gpu(story: Story) -> None:
    assert (story.incident["kind"], story.incident["node"]) == ("HardwareFault", story.sick), story.job.story()
    assert story.incident["ranks"] == [2]
    assert (story.incident["gpu"]["index"], story.incident["gpu"]["pci"]) == (SICK_GPU, "0000:03:00.0")


def test_the_job_goes_on_elsewhere(story: Story) -> None:
    (entry,) = story.status["history"]
    assert (entry["reason"], entry["class"], entry["node"]) == ("HardwareFault", "Hardware", story.sick)
    assert story.sick not in story.nodes


def test_a_node_whose_exporter_breaks_down_is_not_measured_and_its_job_goes_on(story: Story) -> None:
    assert story.mute == ("True", "AgentSilent", "Unknown")
    assert story.job.status["attempt"] == 2


def test_no_agent_of_ours_runs_and_pods_may_be_listed_only_where_the_exporters_are(
    cluster: Cluster, exporters: Exporters
) -> None:
    del exporters  # must be there
    assert "hedgerow-agent" not in cluster.kubectl("get", "daemonsets", "-A", "-o", "name")
    role = cluster.kubectl("-n", NAMESPACE, "get", "role", "-o", "jsonpath={.items[*].rules}")
    assert '"resources":["pods"],"verbs":["list"]' in role


def test_two_attempts_were_never_alive_at_once(story: Story, watch: AttemptWatch) -> None:
    watch.check(story.job.uid)
