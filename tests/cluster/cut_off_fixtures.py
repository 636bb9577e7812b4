"""Jobs that the network keeps from being heard: asked for early, as only a minute of silence shows one of them."""

from collections.abc import Iterator
from concurrent.futures import Future
from typing import NamedTuple

import pytest

from tests.cluster.beside import under_way
from tests.cluster.order import chosen
from tests.cluster.scenario.cut_off import PROXY, cut_off, short_job, waiting
from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.testbed.cluster import Cluster


class KeptApart(NamedTuple):
    """A job that a policy keeps from speaking, one that is told of a proxy. `cut`: once the first is cut off."""

    silenced: Job
    proxied: Job
    cut: "Future[None]"


@pytest.fixture(scope="session")
def kept_apart(
    request: pytest.FixtureRequest, cluster: Cluster, operator: InstalledOperator
) -> Iterator[KeptApart | None]:
    """Both, applied at once. None where no test is of them."""
    del operator  # must be there
    if not chosen(request, "test_cut_off"):
        yield None
        return
    with restricted_namespace(cluster) as namespace:
        silenced = Job.apply(cluster, namespace, waiting(short_job("cut", {})))
        proxied = Job.apply(cluster, namespace, short_job("proxied", PROXY))
        with under_way(lambda: cut_off(silenced)) as cut:
            yield KeptApart(silenced, proxied, cut)
