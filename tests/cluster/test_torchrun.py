"""torchrun as people run it, real torch over gloo, up to 2 workers of 2 ranks: found and judged through its tree.

Its own options contradict the job; the job wins. Side by side: one job hangs, of one torchrun is killed, in one a
rank raises.
"""

from tests.cluster.scenario import ranks
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.scenario.torchrun import SECONDS
from tests.cluster.torchrun_fixtures import Torchrun

FIRST_EPHEMERAL_PORT = 32768


def test_when_torchrun_itself_is_killed_its_ranks_are_ended_and_the_job_goes_on(
    torchrun_jobs: Torchrun, watch: AttemptWatch
) -> None:
    job, orphans = torchrun_jobs.jobs["killed"], torchrun_jobs.orphans.result()
    job.wait("to restart", lambda job: job.status.get("attempt") == 2, SECONDS)
    assert not {found.pid for found in ranks.of_job(job.uid)} & orphans
    (entry,) = job.status["history"]
    assert entry["reason"] == "RankExited"
    assert "which had started this rank, ended by signal 9" in entry["message"], job.story()
    job.wait_state("Succeeded", timeout=SECONDS)
    watch.check(job.uid)


def test_the_rank_that_hangs_below_torchrun_is_named_and_the_job_finishes(
    torchrun_jobs: Torchrun, watch: AttemptWatch
) -> None:
    job = torchrun_jobs.jobs["hangs"]
    status = job.wait_state("Succeeded", timeout=SECONDS)
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"], status["restarts"]) == ("NoProgress", [2], 1), job.story()
    assert (status["resumeStep"], status["step"], status["ranks"]["expected"]) == (20, 60, 4)
    watch.check(job.uid)


def test_what_torchrun_is_told_gives_way_and_a_line_says_so(torchrun_jobs: Torchrun) -> None:
    job = torchrun_jobs.jobs["hangs"]
    job.wait_state("Succeeded", timeout=SECONDS)
    said = job.cluster.kubectl("-n", job.namespace, "logs", job.pods()[0]["metadata"]["name"], "-c", "train")
    assert (
        "hedgerow: torchrun: --nnodes=1 --standalone --nproc_per_node=4 --max_restarts=3 give way to what the job "
        "says: 2 workers of 2 ranks" in said
    )


def test_of_ranks_that_torchrun_ends_after_an_exception_the_first_is_named(torchrun_jobs: Torchrun) -> None:
    job = torchrun_jobs.jobs["raises"]
    status = job.wait_state("Failed", timeout=SECONDS)
    assert [entry["ranks"] for entry in status["history"]] == [[1], [1]], job.story()
    assert "rank 1 exited with code 1 at step 12: ValueError: bad batch" in status["history"][0]["message"]
    assert job.condition("Failed")["reason"] == "ApplicationFault"


def test_two_jobs_on_the_network_of_one_node_meet_at_ports_of_their_own(torchrun_jobs: Torchrun) -> None:
    ports = []
    for job in torchrun_jobs.pair:
        status = job.wait_state("Succeeded", timeout=SECONDS)
        assert status["restarts"] == 0, job.story()
        (pod,) = job.pods()
        said = job.cluster.kubectl("-n", job.namespace, "logs", pod["metadata"]["name"], "-c", "train")
        (port,) = {int(line.split()[1]) for line in said.splitlines() if line.startswith("port ")}
        ports.append(port)
    assert len(set(ports)) == 2
    assert max(ports) < FIRST_EPHEMERAL_PORT
