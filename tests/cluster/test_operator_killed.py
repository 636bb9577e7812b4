"""The operator is killed with SIGKILL between any two of its changes: always one attempt alive, always the same end."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tests.cluster.scenario.api_proxy import ApiProxy
from tests.cluster.scenario.host_operator import HostOperator
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import Fields, quickstart
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.components import SERVER

# A life may make this many changes; it is killed when it asks for one more.
CHANGES_OF_A_LIFE = (1, 2)
SECONDS = 170


class Outcome(NamedTuple):
    """How a job ended whose operator had many lives."""

    job: Job
    status: Fields
    events: list[Fields]
    lives: int
    writes: list[str]


def short_job() -> Fields:
    """Two workers of one rank; rank 1 hangs at step 12 of 20, after the checkpoint of step 10."""
    env = {"HANG_RANK": "1", "HANG_STEP": "12", "TORN_STEP": "-1", "STEPS": "20", "READ_SECONDS": "0.05"}
    spec = {
        "ranksPerWorker": 1,
        "health": {"stall": {"minSeconds": 2}},
        "recovery": {"backoff": {"initialSeconds": 0}, "graceSeconds": 1},
    }
    return quickstart("short", spec=spec, env=env)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def live_and_die(cluster: Cluster, namespace: str, changes: int) -> Outcome:
    """Let the job run to its end with an operator that dies before every change after `changes` ones."""
    with ApiProxy(SERVER, cluster.site.certificates / "ca.crt") as proxy:
        operator = HostOperator(cluster, namespace, proxy.url, free_port())
        died = threading.Event()

        def kill() -> None:
            operator.signal("KILL")
            died.set()

        proxy.on_limit = kill
        job = Job.apply(cluster, namespace, short_job())
        try:
            while job.status.get("state") not in ("Succeeded", "Failed"):
                died.clear()
                proxy.allowed = len(proxy.writes) + changes
                operator.start(new_lease=True)
                job.wait("to end, or its operator to die", lambda job: died.is_set() or ended(job), SECONDS)
                operator.kill()
            return Outcome(job, job.status, job.events(), operator.lives, proxy.writes)
        finally:
            operator.kill()


def ended(job: Job) -> bool:
    """Whether the job is over."""
    return job.status.get("state") in ("Succeeded", "Failed")


@pytest.fixture(scope="module")
def outcomes(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch) -> Iterator[dict[int, Outcome]]:
    """One job for each of CHANGES_OF_A_LIFE, all at once; meanwhile the installed operator is off."""
    del watch
    operator.scale(0)
    places = [restricted_namespace(cluster) for _ in CHANGES_OF_A_LIFE]
    namespaces = [place.__enter__() for place in places]
    try:
        with ThreadPoolExecutor(len(namespaces)) as pool:
            runs = pool.map(lambda pair: live_and_die(cluster, *pair), zip(namespaces, CHANGES_OF_A_LIFE, strict=True))
            yield dict(zip(CHANGES_OF_A_LIFE, runs, strict=True))
    finally:
        for place in places:
            place.__exit__(None, None, None)
        operator.scale(1)


@pytest.mark.parametrize("changes", CHANGES_OF_A_LIFE)
def test_the_end_is_the_same_wherever_the_operator_was_killed(outcomes: dict[int, Outcome], changes: int) -> None:
    found = outcomes[changes]
    status = found.status
    assert status["state"] == "Succeeded", found.job.story()
    assert (status["restarts"], status["restartsCounted"], status["attempt"], status["placement"]) == (1, 1, 2, 1)
    assert [(entry["attempt"], entry["reason"], entry["ranks"]) for entry in status["history"]] == [
        (1, "NoProgress", [1])
    ]
    assert (status["resumeStep"], status["step"]) == (10, 20)


@pytest.mark.parametrize("changes", CHANGES_OF_A_LIFE)
def test_two_attempts_are_never_alive_at_once(outcomes: dict[int, Outcome], watch: AttemptWatch, changes: int) -> None:
    watch.check(outcomes[changes].job.uid)
    assert watch.seen[outcomes[changes].job.uid] == {1, 2}


def test_it_was_really_killed_between_all_changes(outcomes: dict[int, Outcome]) -> None:
    once = outcomes[1]
    assert once.lives >= len(once.writes) >= 8
    assert all(outcome.lives >= 3 for outcome in outcomes.values())


def test_one_job_object_was_made_however_often_it_was_tried(outcomes: dict[int, Outcome]) -> None:
    for outcome in outcomes.values():
        assert [placement["metadata"]["name"] for placement in outcome.job.placements()] == ["short-1"]
