"""One real cluster for all tests, and a namespace for each."""

from collections.abc import Iterator

import pytest

from tests.cluster.beside import lives, lost_nodes
from tests.cluster.cut_off_fixtures import kept_apart
from tests.cluster.fault_fixtures import faulty
from tests.cluster.operator_fixtures import chart, operator, place, pytorch, unheard, watch
from tests.cluster.order import in_order
from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.errors import ClusterError
from tests.cluster.torchrun_fixtures import torchrun_jobs

__all__ = [
    "chart",
    "faulty",
    "kept_apart",
    "lives",
    "lost_nodes",
    "operator",
    "place",
    "pytorch",
    "torchrun_jobs",
    "unheard",
    "watch",
]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a cluster run in an order that lets long waits overlap."""
    items[:] = in_order(items)


def start_or_sentence() -> Cluster | str:
    """The cluster, or why there is none, without the traceback that pytest shows inside an except clause."""
    try:
        return Cluster.start()
    except ClusterError as error:
        return str(error)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The cluster that every test shares: three nodes with eight GPUs each."""
    started = start_or_sentence()
    if isinstance(started, str):
        pytest.fail(started, pytrace=False)
    yield started
    started.stop()


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of the test's own; afterwards whatever the test has broken in the cluster is brought back."""
    with cluster.namespace() as name:
        yield name
        cluster.heal()
