"""What the tests of the operator share: the installed operator, a watch over all attempts, a place to train."""

from collections.abc import Iterator
from concurrent.futures import Future, wait

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import (
    TORCH_STALL_SECONDS,
    all_on,
    example,
    in_pods,
    merge,
    quickstart,
    spread_over_nodes,
)
from tests.cluster.scenario.operators import NODE, InstalledOperator
from tests.cluster.scenario.places import restricted_namespace
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed import hedgerow
from tests.cluster.testbed.cluster import Cluster

# An address where nobody answers (RFC 5737), in place of the report server's.
ASTRAY = {
    "hostAliases": [{"ip": "192.0.2.1", "hostnames": [f"{hedgerow.RELEASE}.{hedgerow.NAMESPACE}.svc"]}],
}


@pytest.fixture(scope="session")
def chart(cluster: Cluster) -> InstalledOperator:
    """Hedgerow, installed by its chart; whether its operator runs is not sure."""
    installed = InstalledOperator(cluster)
    installed.install()
    return installed


@pytest.fixture(scope="session")
def operator(chart: InstalledOperator, lives: "Future[object]") -> InstalledOperator:
    """The installed operator, which runs."""
    wait([lives])
    chart.scale(1)
    return chart


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
        yield Job.apply(
            cluster, namespace, in_pods(all_on(NODE, quickstart("unheard", spec={"ranksPerWorker": 1})), ASTRAY)
        )


@pytest.fixture(scope="module")
def place(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch, unheard: Job) -> Iterator[str]:
    """A namespace that enforces the restricted Pod Security Standard, with the quickstart's code and storage."""
    del operator, watch, unheard  # must be there
    with restricted_namespace(cluster) as namespace:
        yield namespace


@pytest.fixture(scope="session")
def pytorch(cluster: Cluster, operator: InstalledOperator, watch: AttemptWatch) -> Iterator[Job]:
    """The PyTorch example under way; asked for early, as importing torch takes long."""
    del operator, watch  # must be there
    with restricted_namespace(cluster, "pytorch-ddp") as namespace:
        (manifest,) = (entry for entry in example("pytorch-ddp") if entry["kind"] == "TrainingJob")
        spread_over_nodes(manifest, "pytorch-ddp")
        merge(manifest["spec"], {"health": {"stall": {"minSeconds": TORCH_STALL_SECONDS}}})
        yield Job.apply(cluster, namespace, manifest)
