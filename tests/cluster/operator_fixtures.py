"""What the tests of the operator share: the installed operator, a watch over all attempts, a place to train."""

from collections.abc import Iterator

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import in_pods, quickstart
from tests.cluster.scenario.operators import NODE, InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed import hedgerow
from tests.cluster.testbed.cluster import Cluster

# An address where nobody answers (RFC 5737), in place of the report server's; on the node that no test takes away.
ASTRAY = {
    "hostAliases": [{"ip": "192.0.2.1", "hostnames": [f"{hedgerow.RELEASE}.{hedgerow.NAMESPACE}.svc"]}],
    "nodeSelector": {"kubernetes.io/hostname": NODE},
    "affinity": None,
}


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


@pytest.fixture(scope="session")
def unheard(cluster: Cluster, operator: InstalledOperator) -> Iterator[Job]:
    """A job whose workers cannot reach the report server; asked for early, as only a minute of silence shows that."""
    del operator
    with restricted_namespace(cluster) as namespace:
        yield Job.apply(cluster, namespace, in_pods(quickstart("unheard", spec={"ranksPerWorker": 1}), ASTRAY))


@pytest.fixture(scope="module")
def place(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch, unheard: Job) -> Iterator[str]:
    """A namespace that enforces the restricted Pod Security Standard, with the quickstart's code and storage."""
    del operator, watch, unheard  # must be there
    with restricted_namespace(cluster) as namespace:
        yield namespace
