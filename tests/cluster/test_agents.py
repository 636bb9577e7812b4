"""Agents on real nodes: a GPU fails under a job, its node is avoided and used again; silent agents restart nothing; and
what others say of a node counts.
"""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from tests.cluster.beside import under_way
from tests.cluster.scenario.agents import SICK_GPU, Agents
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.node_marks import Looks
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.scenario.sick_node import Silence, Story, fall_silent, long_job, lose_a_gpu
from tests.cluster.scenario.signalled import CONDITION, Signalled, signalled
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.images import AGENT_IMAGE

# One job lives through the whole story before the last tests.
pytestmark = pytest.mark.timeout(600)

NOTHING = Looks(tainted=False, marked=False, cordoned=False)
TAINTED = Looks(tainted=True, marked=True, cordoned=False)


@pytest.fixture(scope="module")
def agents(operator: InstalledOperator) -> Iterator[Agents]:
    """An agent on every node, and taints on quarantined ones; afterwards Hedgerow is as it was."""
    found = Agents(operator)
    found.install()
    yield found
    operator.install()


@pytest.fixture(scope="module")
def job(cluster: Cluster, agents: Agents, place: str) -> Job:
    """The job of the whole story."""
    del agents  # must be there
    return long_job(cluster, place)


@pytest.fixture(scope="module")
def other_eyes(cluster: Cluster, job: Job, place: str) -> "Iterator[Future[Signalled]]":
    """Another job on a node that somebody speaks against, while agents are silent."""
    del job  # trains already
    with under_way(lambda: signalled(cluster, place)) as seen:
        yield seen


@pytest.fixture(scope="module")
def silence(agents: Agents, job: Job, other_eyes: "Future[Signalled]") -> Silence:
    """What was said while half of the agents were silent."""
    del other_eyes  # goes on meanwhile
    return fall_silent(agents, job)


@pytest.fixture(scope="module")
def said(other_eyes: "Future[Signalled]", silence: Silence) -> Signalled:
    """What became of the other job."""
    del silence  # goes on meanwhile
    return other_eyes.result()


@pytest.fixture(scope="module")
def story(cluster: Cluster, place: str, agents: Agents, job: Job, said: Signalled) -> Story:
    """What became of the job whose GPU failed."""
    del said  # is over: it needs two nodes
    return lose_a_gpu(cluster, place, agents, job)


def test_half_of_the_agents_silent_at_once_is_not_measured_and_restarts_nothing(silence: Silence, job: Job) -> None:
    for node in ("node2", "node3"):
        assert silence.told[node] == ("Unknown", "AgentsSilent", "Unknown")
    assert silence.told["node1"] == ("False", "AgentHeard", "True")
    assert silence.attempt_after == 1, job.story()


def test_the_agents_run_from_the_image_of_their_own(agents: Agents) -> None:
    assert agents.images() == {AGENT_IMAGE}


def test_a_condition_that_somebody_else_writes_restarts_no_job_that_goes_on(said: Signalled) -> None:
    assert said.went_on == 1, said.story


def test_it_is_the_second_evidence_where_a_rank_stands_still(said: Signalled) -> None:
    assert said.incident["node"] == said.bad, said.story
    assert any(f"its condition {CONDITION} is True (SaidByATest)" in line for line in said.incident["evidence"])


def test_the_next_attempt_avoids_that_node(said: Signalled) -> None:
    assert said.bad not in said.nodes
    (entry,) = said.status["history"]
    assert (entry["class"], entry["node"]) == ("Hardware", said.bad)


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
    assert story.pinned["step"] >= 1
    assert story.gpu_node_after["state"] == "Healthy"
    assert "quarantine" not in story.gpu_node_after
    assert "drainReason" not in story.gpu_node_after


def test_a_job_that_finds_no_room_meanwhile_says_which_node_it_may_not_use_and_why(story: Story) -> None:
    said, _, avoided = story.waits.partition("the job may not use")
    assert "node(s) didn't match" in said  # the scheduler's own words
    assert f"{story.sick} (" in avoided


def test_events_tell_of_the_quarantine_and_of_its_end(story: Story) -> None:
    told = {event["reason"]: (event["type"], event["message"]) for event in story.events}
    assert told["Quarantined"][0] == "Warning"
    assert told["Released"][0] == "Normal"
    assert "has not been seen since" in told["Released"][1]


def test_quarantined_nodes_are_tainted_no_more_of_them_than_is_allowed(story: Story) -> None:
    assert story.looks["capped"] == (TAINTED, NOTHING)


def test_a_taint_that_has_run_out_is_taken_off_and_makes_room_for_another(story: Story) -> None:
    assert story.looks["run out"] == (
        Looks(tainted=False, marked=True, cordoned=False),
        TAINTED._replace(cordoned=True),
    )


def test_in_the_end_no_taint_of_ours_is_left_and_the_cordon_of_a_person_is(story: Story) -> None:
    assert story.looks["over"] == (NOTHING, NOTHING._replace(cordoned=True))


def test_two_attempts_were_never_alive_at_once(story: Story, watch: AttemptWatch) -> None:
    watch.check(story.job.uid)
