"""Jobs whose ranks suffer real faults: asked for early, so that they wait side by side and beside the lost nodes."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import NamedTuple

import pytest

from tests.cluster.beside import under_way
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import QUICKSTART, Fields, all_on, merge, quickstart, wrapped_container
from tests.cluster.scenario.operators import NODE
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.processor_limit import limit
from tests.cluster.testbed.cluster import Cluster
from tests.local import faults

# Of a processor: the 10 ms of a step take a second.
PERCENT = 1
SLOW = {**faults.SLOW, "WORK_SECONDS": "0.01"}
CODE = "faults"


class Faulty(NamedTuple):
    """The jobs by name, one for each fault. `slowed`: rank 1 of the job `slow` gets less of a processor."""

    jobs: dict[str, Job]
    slowed: "Future[None]"


@pytest.fixture(scope="session")
def faulty(cluster: Cluster, lost_nodes: "Future[object]") -> Iterator[Faulty]:
    """All of them, applied at once; the one that takes longest first."""
    del lost_nodes  # goes on meanwhile
    with restricted_namespace(cluster) as namespace:
        files = [f"--from-file={path}" for path in (QUICKSTART, faults.SCRIPT)]
        cluster.kubectl("-n", namespace, "create", "configmap", CODE, *files)
        slow = job_with("slow", "outside", SLOW, faults.SLOW_RANKS)
        manifests = [slow, *(job_with(fault, fault) for fault in (*faults.HEALED, faults.EVERYWHERE))]
        jobs = {job.name: job for job in (Job.apply(cluster, namespace, manifest) for manifest in manifests)}
        with under_way(lambda: slow_down(jobs["slow"])) as slowed:
            yield Faulty(jobs, slowed)


def job_with(name: str, fault: str, env: Mapping[str, str] | None = None, ranks: int = 2) -> Fields:
    """A job of one worker, whose rank 1 suffers this."""
    spec = {"workers": 1, "ranksPerWorker": ranks}
    job = all_on(NODE, quickstart(name, env={"FAULT": fault, "QUICKSTART": "/code", **(env or {})}, spec=spec))
    command = ["python3", f"/code/{faults.SCRIPT.name}"]
    merge(wrapped_container(job), {"command": command, "resources": {"requests": {"cpu": "10m"}}})
    (code,) = (found for found in job["spec"]["kubernetes"]["template"]["spec"]["volumes"] if found["name"] == "code")
    code["configMap"]["name"] = CODE
    return job


def slow_down(job: Job) -> None:
    """Limits the processor time of rank 1, from outside the pod."""
    job.wait("to train", lambda job: job.status.get("step"))
    (victim,) = (found for found in job.ranks if found.rank == 1)
    limit(victim.pid, PERCENT)
