"""Hedgerow in the cluster: its chart, installed by Helm, with the images that were built for the run."""

from tests.cluster.testbed.cluster import Cluster
from tests.cluster.testbed.images import OPERATOR_IMAGE
from tests.cluster.testbed.paths import REPOSITORY

CHART = REPOSITORY / "charts" / "hedgerow"
NAMESPACE = "hedgerow-system"
RELEASE = "hedgerow"


def install(cluster: Cluster, *settings: str, namespace: str = NAMESPACE) -> None:
    """Install or upgrade the chart and wait until the operator is ready; `settings` are more NAME=VALUE for --set."""
    repository, _, tag = OPERATOR_IMAGE.rpartition(":")
    image = [f"image.repository={repository}", f"image.tag={tag}", "image.pullPolicy=Never"]
    values = [word for setting in (*image, *settings) for word in ("--set", setting)]
    where = ["--namespace", namespace, "--create-namespace"]
    cluster.helm("upgrade", "--install", RELEASE, str(CHART), *where, *values, "--wait", "--timeout", "90s")
