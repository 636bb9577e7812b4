"""A real Slurm beside the Kubernetes cluster, which the installed operator reaches by slurmrestd alone."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import NO_FAULTS, QUICKSTART, STALL_SECONDS, Fields, as_text
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.testbed import hedgerow, network
from tests.cluster.testbed.cluster import Cluster
from tests.slurm.testbed.testbed import Testbed

NAME = "hpc"
BAD_NODE = "n3"
_API = "hedgerow.dev/v1alpha1"
_SECRET = "slurm-token"


@contextmanager
def far_slurm(operator: InstalledOperator) -> Iterator[Testbed]:
    """It runs, and the operator looks at SlurmClusters; afterwards Hedgerow is as it was."""
    testbed = Testbed.start(host=network.CONTROL_PLANE)
    try:
        operator.install("slurm.enabled=true")
        yield testbed
    finally:
        operator.install()
        testbed.close()


def apply_cluster(cluster: Cluster, namespace: str, slurm: Testbed) -> None:
    """The SlurmCluster and the Secret that it names."""
    token = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": _SECRET},
        "stringData": {"token": slurm.token()},
    }
    service = cluster.api.get(f"/api/v1/namespaces/{hedgerow.NAMESPACE}/services/{hedgerow.RELEASE}")["spec"]
    spec = {
        "driver": "REST",
        "url": slurm.rest_url,
        "user": "root",
        "tokenSecretRef": {"name": _SECRET},
        "reportURL": f"http://{service['clusterIP']}:{service['ports'][0]['port']}",
        "tokenDirectory": str(slurm.jobs),
    }
    found = {"apiVersion": _API, "kind": "SlurmCluster", "metadata": {"name": NAME}, "spec": spec}
    cluster.kubectl("-n", namespace, "apply", "-f", "-", stdin=as_text(token, found))


def read_cluster(cluster: Cluster, namespace: str) -> Fields:
    """Its status, as kubectl would show it."""
    found = cluster.api.get(f"/apis/{_API}/namespaces/{namespace}/slurmclusters/{NAME}")
    return dict(found.get("status") or {})


def apply_job(cluster: Cluster, namespace: str, slurm: Testbed) -> Job:
    """Three nodes train; on one of them a rank hangs in every attempt."""
    checkpoints = str(slurm.jobs / "checkpoints")
    variables = {**NO_FAULTS, "CHECKPOINT_DIRECTORY": checkpoints, "STEPS": "40"}
    lines = [
        *(f"export {name}={value}" for name, value in variables.items()),
        f'[ "$SLURMD_NODENAME" = {BAD_NODE} ] && export HANG_RANK=$RANK HANG_STEP=9 FAULTY_ATTEMPT=$HEDGEROW_ATTEMPT',
        f"exec {sys.executable} {QUICKSTART / 'train.py'}",
    ]
    spec = {
        "workers": 3,
        "ranksPerWorker": 1,
        "slurm": {
            "clusterRef": {"name": NAME},
            "timeLimit": "10",
            "options": {"chdir": str(slurm.jobs)},
            "script": "\n".join(lines) + "\n",
        },
        "checkpoint": {"directory": checkpoints},
        "health": {"stall": {"minSeconds": STALL_SECONDS}},
        "recovery": {"graceSeconds": 2, "noProgressLimit": 6, "fenceSeconds": 30, "backoff": {"initialSeconds": 0}},
    }
    job = {"apiVersion": _API, "kind": "TrainingJob", "metadata": {"name": "far"}, "spec": spec}
    return Job.apply(cluster, namespace, job)
