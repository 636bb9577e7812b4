"""The API server is killed while jobs train, hang and recover: nothing is restarted because nobody could look."""

from typing import NamedTuple

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, quickstart
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster

pytestmark = pytest.mark.alone
# The healthy job trains for so long without the server: more seconds than the operator may act without its lease.
STEPS_AWAY = 100
SECONDS = 90
ENVIRONMENTS = {
    "healthy": {**NO_FAULTS, "STEPS": "240"},
    "recovering": {"HANG_STEP": "12", "TORN_STEP": "-1", "STEPS": "40"},
    "hanging": {"HANG_STEP": "130", "TORN_STEP": "-1", "STEPS": "150"},
}


class Story(NamedTuple):
    """The jobs once they have ended, and the ranks of the healthy one before and after the time without server."""

    jobs: dict[str, Job]
    before: set[int]
    after: set[int]


@pytest.fixture(scope="module")
def story(cluster: Cluster, place: str) -> Story:
    """The server dies in the middle of a recovery, just before another job hangs, and comes back later."""
    spec = {"ranksPerWorker": 1, "recovery": {"graceSeconds": 1}}
    manifests = [
        quickstart(name, spec=spec, env={**env, "HANG_RANK": env.get("HANG_RANK", "1")})
        for name, env in ENVIRONMENTS.items()
    ]
    jobs = {job.name: job for job in (Job.apply(cluster, place, manifest) for manifest in manifests) if job.uid}
    healthy, recovering = jobs["healthy"], jobs["recovering"]
    healthy.wait_saved(10)
    recovering.wait("to recover", lambda job: job.status.get("incident") or job.status.get("restarts"))
    before = {found.pid for found in healthy.ranks}
    cluster.apiserver.kill()
    try:
        goal = max(healthy.saved()) + STEPS_AWAY
        cluster.wait_for("training to go on without the API server", lambda _: max(healthy.saved()) >= goal, SECONDS)
        after = {found.pid for found in healthy.ranks}
    finally:
        cluster.heal()
    for job in jobs.values():
        job.wait_state("Succeeded")
    return Story(jobs, before, after)


def test_training_goes_on_and_the_healthy_job_is_never_restarted(story: Story) -> None:
    status = story.jobs["healthy"].status
    assert story.before == story.after
    assert len(story.before) == 2
    assert (status["restarts"], status["attempt"], status.get("history", [])) == (0, 1, []), story.jobs[
        "healthy"
    ].story()


@pytest.mark.parametrize("name", ["recovering", "hanging"])
def test_the_recovery_that_was_due_is_made_once(story: Story, name: str) -> None:
    job = story.jobs[name]
    status = job.status
    assert [(entry["reason"], entry["ranks"]) for entry in status["history"]] == [("NoProgress", [1])], job.story()
    assert (status["restarts"], status["restartsCounted"], status["placement"]) == (1, 1, 1)
    assert status["resumeStep"] == (int(ENVIRONMENTS[name]["HANG_STEP"]) - 1) // 10 * 10


def test_two_attempts_are_never_alive_at_once(story: Story, watch: AttemptWatch) -> None:
    for job in story.jobs.values():
        watch.check(job.uid)


def test_the_operator_is_ready_again_and_logged_no_fault(story: Story, operator: InstalledOperator) -> None:
    del story
    (pod,) = operator.pods()
    assert pod["status"]["containerStatuses"][0]["ready"]
    assert not [line for line in operator.lines() if line["level"] == "critical" or "exception" in line]
