"""A rank whose time of a processor is limited while it trains, as a limit of its container would."""

from tests.cluster.fault_fixtures import Faulty
from tests.cluster.scenario.manifests import Fields
from tests.local import faults

# A minute of rounds in which it is behind the others, and the time until it trains.
SECONDS = 180


def test_it_is_told_of_by_number_and_node_and_nothing_is_restarted(faulty: Faulty) -> None:
    faulty.slowed.result()
    job = faulty.jobs["slow"]
    degraded = job.wait("to be slow", lambda job: told(job.condition("Degraded")), SECONDS)
    (pod,) = job.pods()
    assert degraded["reason"] == "SlowerThanPeers", job.story()
    assert degraded["message"].startswith(faults.SLOW_SAID)
    assert degraded["message"].endswith(f"(on {pod['spec']['nodeName']})")
    status = job.status
    assert status["degradations"][0]["ranks"] == [1]
    assert (status["state"], status["reason"]) == ("Running", "SlowerThanPeers")
    assert (status["restarts"], status.get("history", [])) == (0, []), job.story()


def test_deleted_it_leaves_nothing(faulty: Faulty) -> None:
    job = faulty.jobs["slow"]
    job.delete()
    job.wait("to leave nothing", lambda job: not (job.placements() or job.pods() or job.ranks))


def told(condition: Fields) -> Fields:
    """The condition, once it is True."""
    return condition if condition.get("status") == "True" else {}
