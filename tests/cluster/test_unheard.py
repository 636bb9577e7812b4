"""Workers that run and whose reports never arrive."""

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import Fields

SECONDS = 150
URL = "http://hedgerow.hedgerow-system.svc:8080"


def told(job: Job) -> Fields:
    """The condition Running, once it tells of both workers."""
    running = job.condition("Running")
    return running if running.get("message", "").startswith("workers 0 and 1 run ") else {}


def test_they_say_where_they_report_to_and_what_may_be_wrong(unheard: Job) -> None:
    running = unheard.wait("to tell", told, SECONDS)
    assert (running["status"], running["reason"]) == ("False", "NoReports")
    assert running["message"].startswith(f"workers 0 and 1 run but have never reported to {URL}; usual causes: ")
    assert "network policy" in running["message"]


def test_silence_alone_restarts_nothing_and_makes_nothing_anew(unheard: Job) -> None:
    unheard.wait("to tell", told, SECONDS)
    assert (unheard.status["restarts"], unheard.status["attempt"], len(unheard.placements())) == (0, 1, 1)


def test_deleted_it_leaves_nothing(unheard: Job) -> None:
    unheard.delete()
    unheard.wait("to leave nothing", lambda job: not (job.placements() or job.pods() or job.ranks))
