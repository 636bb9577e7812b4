"""Jobs that torchrun starts: asked for early, as importing torch takes long."""

from collections.abc import Iterator
from concurrent.futures import Future
from typing import NamedTuple

import pytest

from tests.cluster.beside import under_way
from tests.cluster.order import chosen
from tests.cluster.scenario import torchrun
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster


class Torchrun(NamedTuple):
    """The jobs by what happens to them, two on the network of one node, and the ranks that outlived their torchrun."""

    jobs: dict[str, Job]
    pair: tuple[Job, Job]
    orphans: "Future[set[int]]"


@pytest.fixture(scope="session")
def torchrun_jobs(
    request: pytest.FixtureRequest, cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch
) -> Iterator[Torchrun | None]:
    """All of them, applied at once; of one an agent is killed as soon as it trains. None where no test is of them."""
    del operator, watch  # must be there
    if not chosen(request, "test_torchrun"):
        yield None
        return
    with restricted_namespace(cluster, "pytorch-ddp") as narrow, cluster.namespace("wide") as wide:
        jobs = {job.name: job for job in (Job.apply(cluster, narrow, entry) for entry in torchrun.manifests())}
        left, right = (Job.apply(cluster, wide, torchrun.meeting(name)) for name in ("left", "right"))
        with under_way(lambda: torchrun.kill_an_agent(jobs["killed"])) as orphans:
            yield Torchrun(jobs, (left, right), orphans)
