"""Faults that really happen to ranks in pods, all at the same time: each is healed, or told as it is."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import QUICKSTART, Fields, quickstart, wrapped_container
from tests.cluster.scenario.processor_limit import limit
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster
from tests.local import faults

SECONDS = 150
# Of a processor: the 10 ms of a step take a second.
PERCENT = 1
SLOW = {**faults.SLOW, "WORK_SECONDS": "0.01"}
CODE = "faults"

Jobs = dict[str, Job]


@pytest.fixture(scope="module")
def jobs(cluster: Cluster, place: str) -> Jobs:
    """A job for each fault, all applied at once; the one that takes longest first."""
    files = [f"--from-file={path}" for path in (QUICKSTART, faults.SCRIPT)]
    cluster.kubectl("-n", place, "create", "configmap", CODE, *files)
    slow = faulty("slow", "outside", SLOW, faults.SLOW_RANKS)
    manifests = [slow, *(faulty(fault, fault) for fault in (*faults.HEALED, faults.EVERYWHERE))]
    return {job.name: job for job in (Job.apply(cluster, place, manifest) for manifest in manifests)}


@pytest.fixture(scope="module")
def slowed(jobs: Jobs) -> Iterator[Future[None]]:
    """Rank 1 of the job `slow` gets less of a processor as soon as it trains."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(slow_down, jobs["slow"])


def faulty(name: str, fault: str, env: Mapping[str, str] | None = None, ranks: int = 2) -> Fields:
    """A job of one worker, whose rank 1 suffers this."""
    # Many processes share few cores here: a rank that waits for its turn must not look stuck.
    spec = {"workers": 1, "ranksPerWorker": ranks, "health": {"stall": {"minSeconds": 6}}}
    job = quickstart(name, env={"FAULT": fault, "QUICKSTART": "/code", **(env or {})}, spec=spec)
    wrapped_container(job)["command"] = ["python3", f"/code/{faults.SCRIPT.name}"]
    (code,) = (found for found in job["spec"]["kubernetes"]["template"]["spec"]["volumes"] if found["name"] == "code")
    code["configMap"]["name"] = CODE
    return job


def slow_down(job: Job) -> None:
    """Limits the processor time of rank 1, from outside the pod."""
    job.wait("to train", lambda job: job.status.get("step"))
    (victim,) = (found for found in job.ranks if found.rank == 1)
    limit(victim.pid, PERCENT)


@pytest.mark.parametrize("fault", faults.HEALED)
def test_healed_in_place_with_one_restart_from_the_newest_checkpoint_there_is(
    jobs: Jobs, slowed: "Future[None]", watch: AttemptWatch, fault: str
) -> None:
    del slowed  # goes on meanwhile
    job = jobs[fault]
    expected = faults.HEALED[fault]
    status = job.wait_state("Succeeded", timeout=SECONDS)
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"], entry["class"]) == (expected.reason, [1], expected.fault_class), (
        job.story()
    )
    assert expected.words in entry["message"]
    assert (status["restarts"], status["placement"]) == (1, 1), job.story()
    assert (status.get("resumeStep"), status["step"]) == (expected.resumed, faults.LAST)
    watch.check(job.uid)


def test_the_same_exception_on_all_ranks_is_no_reason_to_try_again(jobs: Jobs) -> None:
    job = jobs[faults.EVERYWHERE]
    status = job.wait_state("Failed", timeout=SECONDS)
    failed = job.condition("Failed")
    assert (status["restarts"], failed["reason"]) == (0, "ApplicationFault"), job.story()
    assert faults.EVERYWHERE_SAID in failed["message"]


def test_a_rank_with_little_processor_time_is_told_of_by_number_and_node_and_nothing_is_restarted(
    jobs: Jobs, slowed: "Future[None]"
) -> None:
    slowed.result()
    job = jobs["slow"]
    degraded = job.wait("to be slow", lambda job: told(job.condition("Degraded")), SECONDS)
    (pod,) = job.pods()
    assert degraded["reason"] == "SlowerThanPeers", job.story()
    assert degraded["message"].startswith(faults.SLOW_SAID)
    assert degraded["message"].endswith(f"(on {pod['spec']['nodeName']})")
    status = job.status
    assert status["degradations"][0]["ranks"] == [1]
    assert (status["state"], status["reason"]) == ("Running", "SlowerThanPeers")
    assert (status["restarts"], status.get("history", [])) == (0, []), job.story()
    job.delete()
    job.wait("to leave nothing", lambda job: not (job.placements() or job.pods() or job.ranks))


def told(condition: Fields) -> Fields:
    """The condition, once it is True."""
    return condition if condition.get("status") == "True" else {}
