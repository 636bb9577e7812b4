"""The quickstart on the cluster: it stalls, the guilty rank is named, it comes back by itself and finishes."""

from collections.abc import Iterator

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import offer
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster


@pytest.fixture(scope="module")
def job(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch, pytorch: Job) -> Iterator[Job]:
    """The quickstart after it has ended, as `make cluster` offers it."""
    del operator, watch, pytorch  # must be there; goes on meanwhile
    offered = offer(cluster)
    cluster.kubectl("apply", "-f", str(offered))
    cluster.kubectl("wait", "--for=condition=Succeeded", "--timeout=240s", "tj/quickstart", timeout=250)
    yield Job(cluster, "default", "quickstart")
    cluster.kubectl("delete", "--wait=false", "-f", str(offered))


def test_it_stalls_once_and_succeeds_after_one_restart_in_the_same_placement(job: Job, watch: AttemptWatch) -> None:
    status = job.status
    assert (status["restarts"], status["restartsCounted"], status["attempt"], status["placement"]) == (1, 1, 2, 1)
    assert [placement["metadata"]["name"] for placement in job.placements()] == ["quickstart-1"]
    assert status["step"] == 60
    watch.check(job.uid)


def test_the_rank_that_hung_is_named_with_the_evidence(job: Job) -> None:
    (entry,) = job.status["history"]
    assert (entry["ranks"], entry["reason"], entry["lastStep"]) == ([2], "NoProgress", 36)
    stalled = next(event for event in job.events() if event["reason"] == "NoProgress")
    assert "rank 2" in stalled["message"]
    assert stalled["type"] == "Warning"


def test_the_torn_checkpoint_is_passed_over(job: Job) -> None:
    assert job.status["resumeStep"] == 20
    (chosen,) = (event for event in job.events() if event["reason"] == "CheckpointChosen")
    assert "resume from /checkpoints/step-000020.safetensors (step 20)" in chosen["message"]
    assert "passed over /checkpoints/step-000030.safetensors" in chosen["message"]


def test_its_workers_ran_on_two_nodes(job: Job) -> None:
    assert len({pod["spec"]["nodeName"] for pod in job.pods()}) == 2


def test_its_events_have_stable_reasons_in_the_order_of_the_story(job: Job) -> None:
    reasons = [event["reason"] for event in job.events()]
    story = ["PlacementCreated", "AttemptStarted", "NoProgress", "Recovered", "AllRanksFinished"]
    assert list(dict.fromkeys(reason for reason in reasons if reason in story)) == story
    assert sorted(reasons) == sorted([*story, "AttemptStarted", "CheckpointChosen", "CheckpointsSetAside"])


def test_kubectl_shows_whether_it_is_fine(cluster: Cluster, job: Job) -> None:
    head, row = cluster.kubectl("-n", job.namespace, "get", "tj").splitlines()
    assert head.split() == ["NAME", "STATE", "REASON", "STEP", "RANKS", "RESTARTS", "CHECKPOINT", "GOODPUT", "AGE"]
    assert row.split()[:4] == ["quickstart", "Succeeded", "AllRanksFinished", "60"]


def test_its_conditions_tell_the_end(job: Job) -> None:
    told = {entry["type"]: (entry["status"], entry["reason"]) for entry in job.status["conditions"]}
    assert told["Succeeded"] == ("True", "AllRanksFinished")
    assert told["Failed"] == ("False", "NotFinished")
    assert told["Running"] == ("False", "AllRanksFinished")
    assert {entry["observedGeneration"] for entry in job.status["conditions"]} == {1}
