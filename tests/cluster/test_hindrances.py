"""What keeps a job from beginning or from ending: no room, ranks that do not stop, a rank that does not leave."""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from tests.cluster.scenario.commands import IGNORES_TERM, NEVER_LEAVES, run_with
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, STALL_SECONDS, Fields, all_on, in_pods, quickstart
from tests.cluster.scenario.operators import NODE
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster

ONE_NODE = {"nodeSelector": {"kubernetes.io/hostname": NODE}}
NO_NODE = {"nodeSelector": {"there-is": "none"}}
GANG_SECONDS = 3
TTL_SECONDS = 2
GRACE_SECONDS = 6

Jobs = dict[str, Job]


def manifests() -> Iterator[Fields]:
    """One job for each hindrance, two workers each, which keep to different nodes where that is the hindrance."""
    health = {"health": {"gangTimeoutSeconds": GANG_SECONDS}}
    yield in_pods(quickstart("halfway", env=NO_FAULTS, spec=health), ONE_NODE)
    yield in_pods(quickstart("nowhere", env=NO_FAULTS, spec=health), NO_NODE)
    ttl = {"ttlSecondsAfterFinished": TTL_SECONDS}
    yield all_on(NODE, quickstart("passing", env={**NO_FAULTS, "STEPS": "5"}, spec=ttl))
    # A stalled rank is killed at once; only a suspension asks, and gives the time to refuse.
    stops_slowly = quickstart("stubborn", env=NO_FAULTS, spec={"recovery": {"graceSeconds": GRACE_SECONDS}})
    yield run_with(all_on(NODE, stops_slowly), IGNORES_TERM)
    # Longer than a step may take: the longer of the two counts, and gives the reason.
    ending = {"health": {"phases": [{"name": "ending", "maxSeconds": STALL_SECONDS + 2}]}}
    lingers = quickstart("lingers", env={**NO_FAULTS, "STEPS": "12"}, spec=ending)
    yield run_with(all_on(NODE, lingers), NEVER_LEAVES)


@pytest.fixture(scope="module")
def jobs(cluster: Cluster, place: str, lost_nodes: "Future[object]") -> Jobs:
    """All of them, applied at once."""
    del lost_nodes  # goes on meanwhile
    applied = [Job.apply(cluster, place, entry) for entry in manifests()]
    return {job.name: job for job in applied if job.uid}


def test_deleted_while_its_ranks_refuse_to_stop_a_job_leaves_nothing(jobs: Jobs) -> None:
    job = jobs["stubborn"]
    job.wait_saved(10)
    job.patch({"spec": {"suspend": True}})
    job.wait("to be stopped", lambda job: job.status.get("stopping"))
    assert job.ranks
    job.delete()
    job.wait("to leave nothing", lambda job: not (job.placements() or job.pods() or job.ranks))


def test_a_gang_with_room_for_a_part_of_it_gives_the_room_back_and_tries_again(jobs: Jobs) -> None:
    job = jobs["halfway"]
    first = job.wait("to be placed", lambda job: {uid(entry) for entry in job.placements()})
    event, *_ = job.wait("to give its room back", lambda job: told(job, "GangTimeout"))
    assert "worker 1 found no room: " in event["message"] or "worker 0 found no room: " in event["message"]
    job.wait("to try again", lambda job: {uid(entry) for entry in job.placements()} - first)
    assert (job.status["restarts"], job.status["restartsCounted"], job.status["attempt"]) == (0, 0, 1)


def test_a_rank_that_does_not_leave_when_the_others_have_is_found_by_the_deadline_of_that_phase(
    jobs: Jobs, watch: AttemptWatch
) -> None:
    job = jobs["lingers"]
    status = job.wait_state("Succeeded")
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"], status["placement"]) == ("EndingTimeout", [3], 1), job.story()
    watch.check(job.uid)


def test_a_job_is_deleted_when_its_time_after_the_end_is_over(jobs: Jobs, cluster: Cluster) -> None:
    job = jobs["passing"]
    job.wait("to be deleted", lambda job: cluster.api.get(job.path) is None)
    assert told(job, "AllRanksFinished")
    job.wait("to leave nothing", lambda job: not job.placements() and not job.pods())


def test_a_gang_that_finds_no_room_at_all_waits_and_says_why(jobs: Jobs) -> None:
    job = jobs["nowhere"]
    running = job.wait("to wait", lambda job: waits(job.condition("Running")))
    assert running["reason"] == "WaitingForWorkers"
    assert "didn't match Pod's node affinity/selector" in running["message"]
    assert (told(job, "GangTimeout"), len(job.placements())) == ([], 1)


@pytest.mark.parametrize("name", ["halfway", "nowhere"])
def test_deleted_before_it_could_begin_a_job_leaves_nothing(jobs: Jobs, name: str) -> None:
    job = jobs[name]
    job.delete()
    job.wait("to leave nothing", lambda job: not (job.placements() or job.pods() or job.ranks))


def told(job: Job, reason: str) -> list[Fields]:
    """The events with this reason."""
    return [event for event in job.events() if event["reason"] == reason]


def uid(entry: Fields) -> str:
    """The uid of an object."""
    return str(entry["metadata"]["uid"])


def waits(running: Fields) -> Fields:
    """The condition, once it names what is missing."""
    return running if "worker 0 " in running.get("message", "") else {}
