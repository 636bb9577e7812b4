"""What the tests of the operator share: the installed operator, a watch over all attempts, a place to train."""

from collections.abc import Iterator

import pytest

from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster


@pytest.fixture(scope="session")
def operator(cluster: Cluster) -> InstalledOperator:
    """The operator, installed by its chart."""
    installed = InstalledOperator(cluster)
    installed.install()
    return installed


@pytest.fixture(scope="session")
def watch() -> Iterator[AttemptWatch]:
    """Looks through the whole session whether two attempts of one job are ever alive at once."""
    watching = AttemptWatch()
    watching.start()
    yield watching
    watching.stop()


@pytest.fixture(scope="module")
def place(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch) -> Iterator[str]:
    """A namespace that enforces the restricted Pod Security Standard, with the quickstart's code and storage."""
    del operator, watch  # must be there
    with restricted_namespace(cluster) as namespace:
        yield namespace
