"""Networks that keep workers from being heard: what is said of them, and that the job trains once it may speak."""

from tests.cluster.cut_off_fixtures import KeptApart
from tests.cluster.scenario.cut_off import SECONDS, reconnect
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import Fields

URL = "http://hedgerow.hedgerow-system.svc:8080"


def test_reports_pass_by_a_proxy_that_the_pod_is_told_of(kept_apart: KeptApart) -> None:
    status = kept_apart.proxied.wait_state("Succeeded")
    assert (status["restarts"], status["step"]) == (0, 12)


def told(job: Job) -> Fields:
    """The condition Running, once it tells of both workers."""
    running = job.condition("Running")
    return running if running.get("message", "").startswith("workers 0 and 1 run ") else {}


def test_workers_that_a_policy_keeps_from_speaking_are_told_of_with_the_usual_causes(kept_apart: KeptApart) -> None:
    kept_apart.cut.result()
    running = kept_apart.silenced.wait("to tell", told, SECONDS)
    assert (running["status"], running["reason"]) == ("False", "NoReports")
    assert running["message"].startswith(f"workers 0 and 1 run but have never reported to {URL}; usual causes: ")
    assert "a network policy that forbids egress" in running["message"]


def test_once_they_may_speak_the_job_trains_and_nothing_was_restarted(kept_apart: KeptApart) -> None:
    kept_apart.cut.result()
    job = kept_apart.silenced
    job.wait("to tell", told, SECONDS)
    reconnect(job)
    status = job.wait_state("Succeeded")
    assert (status["restarts"], status["attempt"], status["step"]) == (0, 1, 12)
