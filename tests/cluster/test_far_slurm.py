"""The installed operator heals a job on a Slurm that it reaches by slurmrestd alone."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.cluster.scenario.far_slurm import BAD_NODE, apply_cluster, apply_job, far_slurm, read_cluster
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import Fields
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster
from tests.slurm.testbed.testbed import Testbed
from tests.slurm.testbed.waiting import wait_for

pytestmark = pytest.mark.timeout(600)


class Story(NamedTuple):
    """A job from its start to its end. slurm_jobs: "STATE COMMENT" of every one that was submitted for it."""

    uid: str
    cluster: Fields
    status: Fields
    placements: list[Fields]
    slurm_jobs: list[str]


@pytest.fixture(scope="module")
def slurm(operator: InstalledOperator) -> Iterator[Testbed]:
    """Beside the cluster."""
    with far_slurm(operator) as testbed:
        yield testbed


@pytest.fixture(scope="module")
def story(cluster: Cluster, slurm: Testbed, watch: AttemptWatch) -> Iterator[Story]:
    """A rank hangs on one node in every attempt there."""
    del watch  # must be there
    with cluster.namespace("far") as namespace:
        apply_cluster(cluster, namespace, slurm)
        cluster.wait_for("the SlurmCluster", lambda _: read_cluster(cluster, namespace).get("state") == "Ready", 90)
        found = read_cluster(cluster, namespace)
        job = apply_job(cluster, namespace, slurm)
        status = job.wait_state("Succeeded", timeout=300)
        submitted = slurm.run(["squeue", "--noheader", "--states=all", "--format=%T %k"]).splitlines()
        yield Story(job.uid, found, status, job.placements(), submitted)
        _deleted(job, slurm)


def _deleted(job: Job, slurm: Testbed) -> None:
    job.delete()
    wait_for("its ranks to be gone", lambda: not job.ranks and not slurm.run("squeue --noheader"), 60)


def test_the_slurm_cluster_says_that_it_answers_and_how_many_nodes_it_has(story: Story) -> None:
    assert story.cluster["nodes"] == "4/4"
    assert story.cluster["version"]


def test_the_job_goes_on_in_place_then_elsewhere_then_without_the_node_and_succeeds(story: Story) -> None:
    assert [entry["placement"] for entry in story.status["history"]] == [1, 1, 3]
    assert [entry["name"] for entry in story.status["excludedNodes"]] == [BAD_NODE]
    assert story.status["slurm"]["nodes"] == "n[1-2,4]"


def test_slurm_saw_one_job_a_placement_and_kubernetes_none(story: Story) -> None:
    comments = [line.partition(" ")[2] for line in story.slurm_jobs]
    assert sorted(comments) == [f"hedgerow:{story.uid}:{placement}" for placement in (1, 3, 4)]
    assert story.placements == []


def test_no_two_attempts_of_it_ever_lived_at_once(story: Story, watch: AttemptWatch) -> None:
    watch.check(story.uid)
    assert watch.seen[story.uid] == {1, 2, 3, 4}
