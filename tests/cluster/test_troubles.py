"""Troubles that jobs come back from, all at once on the same node, one job for each."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.cluster.scenario import ranks
from tests.cluster.scenario.commands import EXITS_ONCE, FAILS_ALIKE, run_with
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, Fields, all_on, quickstart
from tests.cluster.scenario.operators import NODE, InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.errors import ClusterError


def healthy(name: str, steps: int = 150, **spec: object) -> Fields:
    """A job without troubles of its own, which trains long enough to be caught at it on a busy machine."""
    return all_on(NODE, quickstart(name, env={**NO_FAULTS, "STEPS": str(steps)}, spec=dict(spec)))


def stop_rank_two(job: Job) -> None:
    """SIGSTOP from outside the pod: nobody inside takes part."""
    job.wait_saved(10)
    (victim,) = (found for found in job.ranks if found.rank == 2)
    os.kill(victim.pid, signal.SIGSTOP)
    job.wait_state("Succeeded")


def delete_worker_one(job: Job) -> None:
    """kubectl delete pod, of a worker that trains; remembers every pod that there ever was."""
    job.wait_saved(10)
    (victim,) = (pod["metadata"]["name"] for pod in job.pods() if index_of(pod) == "1")
    job.cluster.kubectl("-n", job.namespace, "delete", "pod", victim, "--wait=false")
    seen: dict[tuple[str, str], set[str]] = {}

    def look(job: Job) -> bool:
        for pod in job.pods():
            place = (pod["metadata"]["labels"]["hedgerow.dev/placement"], index_of(pod))
            seen.setdefault(place, set()).add(pod["metadata"]["uid"])
        return job.status.get("state") in ("Succeeded", "Failed")

    job.wait("to end", look)
    assert {place: len(uids) for place, uids in seen.items()} == {
        (placement, worker): 1 for placement in ("1", "2") for worker in ("0", "1")
    }


def suspend_and_resume(job: Job) -> None:
    """By the field that users set."""
    job.wait_saved(10)
    job.patch({"spec": {"suspend": True}})
    job.wait_state("Suspended")
    job.wait("to have no pod", lambda job: not job.pods() and not job.placements())
    assert not job.ranks
    assert job.condition("Suspended")["status"] == "True"
    job.patch({"spec": {"suspend": False}})
    job.wait_state("Succeeded")


MANIFESTS = {
    "stopped": (lambda name: healthy(name), stop_rank_two),
    "exits": (lambda name: run_with(healthy(name), EXITS_ONCE), lambda job: job.wait_state("Succeeded")),
    "fails": (lambda name: run_with(healthy(name), FAILS_ALIKE), lambda job: job.wait_state("Failed")),
    "deleted": (lambda name: healthy(name), delete_worker_one),
    "suspended": (lambda name: healthy(name), suspend_and_resume),
    "observed": (
        lambda name: all_on(NODE, quickstart(name, spec={"recovery": {"mode": "Observe"}})),
        lambda job: job.wait_state("Stalled"),
    ),
}


@pytest.fixture(scope="module")
def done(cluster: Cluster, place: str, lost_nodes: "Future[object]") -> Iterator[dict[str, tuple[Job, Future[None]]]]:
    """Every job, applied, and its trouble under way."""
    del lost_nodes  # goes on meanwhile
    with ThreadPoolExecutor(len(MANIFESTS)) as pool:
        started = {}
        for name, (manifest, trouble) in MANIFESTS.items():
            job = Job.apply(cluster, place, manifest(name))
            started[name] = (job, pool.submit(trouble, job))
        yield started


def outcome(done: dict[str, tuple[Job, Future[None]]], name: str) -> tuple[Job, Fields]:
    """The job and its status once its story is over; fails as its trouble failed."""
    job, trouble = done[name]
    trouble.result()
    return job, job.status


def index_of(pod: Fields) -> str:
    """The worker that a pod is."""
    return str(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])


Done = dict[str, tuple[Job, "Future[None]"]]


def test_a_rank_that_is_stopped_from_outside_is_found_and_the_job_healed_in_place(done: Done) -> None:
    job, status = outcome(done, "stopped")
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"], entry["counted"]) == ("RankStopped", [2], True)
    assert (status["restarts"], status["placement"]) == (1, 1), job.story()


def test_a_rank_that_exits_is_named_and_the_job_goes_on_in_place(done: Done) -> None:
    job, status = outcome(done, "exits")
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"]) == ("RankExited", [3])
    assert "rank 3 exited with code 1" in entry["message"]
    assert (status["restarts"], status["placement"]) == (1, 1), job.story()


def test_the_same_exception_on_every_rank_fails_the_job_instead_of_restarting_it_for_ever(done: Done) -> None:
    job, status = outcome(done, "fails")
    failed = job.condition("Failed")
    assert (failed["status"], failed["reason"]) == ("True", "ApplicationFault"), job.story()
    # Where the nodes start ranks more than a second apart, the first attempt shows only who was first.
    assert status["restarts"] <= 1
    assert "ValueError: learning rate must be positive" in failed["message"]


def test_a_deleted_worker_brings_a_new_placement_that_does_not_count(done: Done) -> None:
    job, status = outcome(done, "deleted")
    (entry,) = status["history"]
    assert (entry["reason"], entry["counted"]) == ("WorkerLost", False), job.story()
    assert (status["state"], status["restarts"], status["restartsCounted"]) == ("Succeeded", 1, 0)


def test_a_suspended_job_resumes_from_its_checkpoint_and_nothing_is_counted(done: Done) -> None:
    job, status = outcome(done, "suspended")
    assert status["restartsCounted"] == 0
    assert status["resumeStep"] >= 10, job.story()


def test_in_mode_observe_a_stall_is_told_and_nothing_is_done(done: Done) -> None:
    job, status = outcome(done, "observed")
    assert (status["restarts"], status["incident"]["ranks"]) == (0, [2])
    assert "would be" in status["incident"]["action"]
    assert job.condition("Stalled")["status"] == "True"


def test_no_job_ever_had_two_attempts_alive_at_once(done: Done, watch: AttemptWatch) -> None:
    for name in done:
        job, _ = outcome(done, name)
        watch.check(job.uid)


def test_what_may_not_change_is_refused_with_the_way_out(done: Done) -> None:
    job, _ = outcome(done, "observed")
    with pytest.raises(ClusterError, match=r"spec\.workers"):
        job.patch({"spec": {"workers": 3}})


def test_deleted_in_whatever_state_a_job_leaves_nothing(cluster: Cluster, place: str, done: Done) -> None:
    jobs = [outcome(done, name)[0] for name in done]
    training = Job.apply(cluster, place, healthy("training", steps=600))
    training.wait("to train", lambda job: len(job.ranks) == 4)
    fresh = Job.apply(cluster, place, healthy("fresh"))
    asleep = Job.apply(cluster, place, healthy("asleep", suspend=True))
    asleep.wait_state("Suspended")
    everything = [*jobs, training, fresh, asleep]
    for job in everything:
        job.delete()
    for job in everything:
        job.wait("to leave nothing", lambda job: not (job.placements() or job.pods() or ranks.of_job(job.uid)))
        assert cluster.api.get(job.path) is None


def test_the_operator_logs_no_fault_and_no_secret(done: Done, operator: InstalledOperator) -> None:
    for name in done:
        outcome(done, name)
    lines = operator.lines()
    assert lines
    # Other tests take the API server away: that it cannot be reached is said, as an error, and is no fault.
    assert not [line for line in lines if line["level"] == "critical" or "exception" in line]
    said = operator.logs()
    assert "Traceback" not in said
    assert "eyJ" not in said  # how every JSON web token begins
