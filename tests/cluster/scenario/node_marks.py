"""What people and tools write on nodes, and what Hedgerow does: conditions, cordons, taints."""

import json
from typing import NamedTuple

from hedgerow_operator.api.labels import ANNOTATION_TAINT_UNTIL, LABEL_TAINTED, TAINT_QUARANTINED
from tests.cluster.scenario.manifests import Fields
from tests.cluster.testbed.cluster import Cluster

LONG_AGO = "2020-01-01T00:00:00Z"


class Looks(NamedTuple):
    """A node as everybody sees it. tainted: by us. marked: it bears the label of it. cordoned: by a person."""

    tainted: bool
    marked: bool
    cordoned: bool


def looks(cluster: Cluster, node: str) -> Looks:
    """How the node looks now."""
    found: Fields = cluster.api.get(f"/api/v1/nodes/{node}")
    keys = {entry["key"] for entry in found["spec"].get("taints", [])}
    cordoned = found["spec"].get("unschedulable", False) and "node.kubernetes.io/unschedulable" in keys
    return Looks(TAINT_QUARANTINED in keys, LABEL_TAINTED in found["metadata"]["labels"], cordoned)


def say(cluster: Cluster, node: str, condition: str, status: str) -> None:
    """Write a condition of the node, as node-problem-detector does."""
    entry = {"type": condition, "status": status, "reason": "SaidByATest"}
    patch = json.dumps({"status": {"conditions": [entry]}})
    cluster.kubectl("patch", "node", node, "--subresource=status", "--type=strategic", "-p", patch)


def let_taint_run_out(cluster: Cluster, node: str) -> None:
    """As if the time of our taint were over."""
    cluster.kubectl("annotate", "node", node, "--overwrite", f"{ANNOTATION_TAINT_UNTIL}={LONG_AGO}")
