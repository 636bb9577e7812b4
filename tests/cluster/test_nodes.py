"""Nodes that die and nodes that cannot be asked: the next attempt waits until nothing of the old one can be alive."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, prefer_nodes, quickstart
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster

FENCE_SECONDS = 10
MARGIN_SECONDS = 15
SAFE, DEAD, CUT = "node1", "node2", "node3"  # the operator runs on the safe one
STEPS = 10_000  # more than they have time for: none ends before its node is lost
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
SECONDS = 150


class Story(NamedTuple):
    """The jobs, and what was seen while their nodes were lost."""

    dead: Job
    cut: Job
    lone: Job
    lost_rank_of_dead: int
    lost_rank_of_cut: int
    fenced_at: dict[str, str]
    ranks_after_cut: list[int]
    attempt_of_lone: int


def job_on(name: str, workers: int, *nodes: str) -> Fields:
    """A long job that begins on these nodes and may move to others."""
    spec = {
        "workers": workers,
        "ranksPerWorker": 1,
        "health": {"reportTimeoutSeconds": 10},
        "recovery": {"fenceSeconds": FENCE_SECONDS, "graceSeconds": 1, "backoff": {"initialSeconds": 0}},
    }
    job = quickstart(name, spec=spec, env={**NO_FAULTS, "STEPS": str(STEPS)})
    prefer_nodes(job, *nodes)
    return job


@pytest.fixture(scope="module")
def story(cluster: Cluster, place: str) -> Iterator[Story]:
    """One node dies, another loses its network, both for good; jobs have workers on them."""
    dead = Job.apply(cluster, place, job_on("dead", 2, SAFE, DEAD))
    cut = Job.apply(cluster, place, job_on("cut", 2, SAFE, CUT))
    lone = Job.apply(cluster, place, job_on("lone", 1, DEAD))
    for job in (dead, cut, lone):
        job.wait_saved(10)
    lost = [rank_on(dead, DEAD), rank_on(cut, CUT)]
    assert rank_on(lone, DEAD) == 0
    cluster.node(DEAD).kill()
    cluster.node(CUT).partition()
    try:
        alive = [found.rank for found in cut.ranks]
        fenced = {
            job.name: str(job.wait("to be fenced", lambda job: job.status.get("fencedAt"))) for job in (cut, dead)
        }
        cut.wait("to train again", lambda job: job.status.get("attempt") == 2 and 2 in attempts(job), SECONDS)
        dead.wait("to train again", lambda job: job.status.get("attempt") == 2 and 2 in attempts(job), SECONDS)
        attempt = lone.status["attempt"]
        cluster.kubectl("taint", "node", DEAD, f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute")
        try:
            lone.wait("to train again", lambda job: 2 in attempts(job), SECONDS)
        finally:
            cluster.kubectl("taint", "node", DEAD, f"{OUT_OF_SERVICE}-")
        yield Story(dead, cut, lone, *lost, fenced, alive, attempt)
    finally:
        cluster.heal()
        for job in (dead, cut, lone):
            job.delete()


def attempts(job: Job) -> set[int]:
    """The attempts of which ranks are alive."""
    return {found.attempt for found in job.ranks}


def rank_on(job: Job, node: str) -> int:
    """The one rank on this node; each worker has one rank, and no node two workers."""
    (rank,) = (worker for worker in range(job.read()["spec"]["workers"]) if node_of(job, worker) == node)
    return rank


def node_of(job: Job, worker: int) -> str:
    """Where a worker runs."""
    label = "batch.kubernetes.io/job-completion-index"
    return next(str(pod["spec"]["nodeName"]) for pod in job.pods() if pod["metadata"]["labels"][label] == str(worker))


def seconds_between(earlier: str, later: str) -> float:
    """Of two times as the status has them."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


@pytest.mark.parametrize("name", ["dead", "cut"])
def test_the_next_attempt_waits_for_the_fence_and_begins_elsewhere(story: Story, name: str) -> None:
    job: Job = getattr(story, name)
    status = job.status
    (entry,) = status["history"]
    assert entry["ranks"] == [getattr(story, f"lost_rank_of_{name}")], job.story()
    assert status["fencedAttempt"] == 1
    waited = seconds_between(story.fenced_at[name], status["attemptStartedAt"])
    assert waited >= FENCE_SECONDS + MARGIN_SECONDS - 1, job.story()  # times in the status are whole seconds
    assert node_of(job, 0) == node_of(job, 1) == SAFE


def test_a_worker_that_was_cut_off_ends_its_ranks_before_the_next_attempt_begins(
    story: Story, watch: AttemptWatch
) -> None:
    assert sorted(story.ranks_after_cut) == [0, 1]
    watch.check(story.cut.uid)
    assert watch.seen[story.cut.uid] == {1, 2}


def test_a_lone_worker_is_never_given_up_by_time_but_by_word_that_its_node_is_out_of_service(
    story: Story, watch: AttemptWatch
) -> None:
    assert story.attempt_of_lone == 1, story.lone.story()
    status = story.lone.status
    assert (status["attempt"], status["history"][0]["reason"]) == (2, "NodeLost")
    watch.check(story.lone.uid)
