"""Jobs whose operator is killed with SIGKILL before every n-th change that it makes, until they have ended."""

import socket
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tests.cluster.scenario.api_proxy import ApiProxy
from tests.cluster.scenario.host_operator import HostOperator
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import Fields, quickstart
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


def live_and_die_everywhere(cluster: Cluster, places: Mapping[int, str]) -> dict[int, Outcome]:
    """One job for each number of changes, in the namespace of that, all at once."""
    with ThreadPoolExecutor(len(places)) as pool:
        runs = pool.map(lambda changes: live_and_die(cluster, places[changes], changes), places)
        return dict(zip(places, runs, strict=True))
