"""Jobs that lose their nodes: one node dies, another loses its network, both for good."""

from typing import NamedTuple

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, prefer_nodes, quickstart
from tests.cluster.testbed.cluster import Cluster

FENCE_SECONDS = 10
MARGIN_SECONDS = 15
SAFE, DEAD, CUT = "node1", "node2", "node3"  # the operator runs on the safe one
STEPS = 10_000  # more than they have time for: none ends before its node is lost
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
SECONDS = 150


class Loss(NamedTuple):
    """What became of a job, and what was seen while its node was lost."""

    uid: str
    lost_rank: int
    ranks_after: list[int]
    attempt_before: int
    fenced_at: str
    status: Fields
    nodes: set[str]
    story: str


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


def lose_nodes(cluster: Cluster, place: str) -> dict[str, Loss]:
    """Lose the nodes DEAD and CUT under jobs; afterwards both are back, and the jobs deleted."""
    dead = Job.apply(cluster, place, job_on("dead", 2, SAFE, DEAD))
    cut = Job.apply(cluster, place, job_on("cut", 2, SAFE, CUT))
    lone = Job.apply(cluster, place, job_on("lone", 1, DEAD))
    jobs = (dead, cut, lone)
    for job in jobs:
        job.wait_saved(10)
    lost = {job.name: rank_on(job, CUT if job is cut else DEAD) for job in jobs}
    cluster.node(DEAD).kill()
    cluster.node(CUT).partition()
    try:
        alive = {job.name: sorted(found.rank for found in job.ranks) for job in jobs}
        fenced = {
            job.name: str(job.wait("to be fenced", lambda job: job.status.get("fencedAt"))) for job in (cut, dead)
        }
        for job in (cut, dead):
            job.wait("to train again", lambda job: job.status.get("attempt") == 2 and 2 in attempts(job), SECONDS)
        attempt = {job.name: int(job.status["attempt"]) for job in jobs}
        cluster.kubectl("taint", "node", DEAD, f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute")
        try:
            lone.wait("to train again", lambda job: 2 in attempts(job), SECONDS)
        finally:
            cluster.kubectl("taint", "node", DEAD, f"{OUT_OF_SERVICE}-")
        return {
            job.name: Loss(
                job.uid,
                lost[job.name],
                alive[job.name],
                attempt[job.name],
                fenced.get(job.name, ""),
                job.status,
                {node_of(job, worker) for worker in range(workers_of(job))},
                job.story(),
            )
            for job in jobs
        }
    finally:
        for job in jobs:
            job.delete()
        cluster.heal()


def attempts(job: Job) -> set[int]:
    """The attempts of which ranks are alive."""
    return {found.attempt for found in job.ranks}


def rank_on(job: Job, node: str) -> int:
    """The one rank on this node; each worker has one rank, and no node two workers."""
    (rank,) = (worker for worker in range(workers_of(job)) if node_of(job, worker) == node)
    return rank


def node_of(job: Job, worker: int) -> str:
    """Where a worker runs."""
    label = "batch.kubernetes.io/job-completion-index"
    return next(str(pod["spec"]["nodeName"]) for pod in job.pods() if pod["metadata"]["labels"][label] == str(worker))


def workers_of(job: Job) -> int:
    """How many workers it has."""
    return int(job.read()["spec"]["workers"])
