"""Paths of the API server that the operator calls."""

from __future__ import annotations

from hedgerow_operator.api.labels import (
    API_VERSION,
    GPU_NODE_PLURAL,
    INFERENCE_ENDPOINT_PLURAL,
    SERVERLESS_PROVIDER_PLURAL,
    SLURM_CLUSTER_PLURAL,
    TRAINING_JOB_PLURAL,
)

TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"  # noqa: S105  (a path)
OUR_API = f"/apis/{API_VERSION}"
NODES = "/api/v1/nodes"
GPU_NODES = f"{OUR_API}/{GPU_NODE_PLURAL}"


def training_job(namespace: str, name: str) -> str:
    """One TrainingJob."""
    return f"{OUR_API}/namespaces/{namespace}/{TRAINING_JOB_PLURAL}/{name}"


def training_jobs(namespaces: tuple[str, ...]) -> list[str]:
    """The collections of TrainingJobs of these namespaces; none named: the one of the whole cluster."""
    return _collections(TRAINING_JOB_PLURAL, namespaces)


def slurm_cluster(namespace: str, name: str) -> str:
    """One SlurmCluster."""
    return f"{OUR_API}/namespaces/{namespace}/{SLURM_CLUSTER_PLURAL}/{name}"


def slurm_clusters(namespaces: tuple[str, ...]) -> list[str]:
    """The collections of SlurmClusters, as of TrainingJobs."""
    return _collections(SLURM_CLUSTER_PLURAL, namespaces)


def inference_endpoint(namespace: str, name: str) -> str:
    """One InferenceEndpoint."""
    return f"{OUR_API}/namespaces/{namespace}/{INFERENCE_ENDPOINT_PLURAL}/{name}"


def inference_endpoints(namespaces: tuple[str, ...]) -> list[str]:
    """The collections of InferenceEndpoints, as of TrainingJobs."""
    return _collections(INFERENCE_ENDPOINT_PLURAL, namespaces)


def serverless_provider(namespace: str, name: str) -> str:
    """One ServerlessProvider."""
    return f"{OUR_API}/namespaces/{namespace}/{SERVERLESS_PROVIDER_PLURAL}/{name}"


def serverless_providers(namespaces: tuple[str, ...]) -> list[str]:
    """The collections of ServerlessProviders, as of TrainingJobs."""
    return _collections(SERVERLESS_PROVIDER_PLURAL, namespaces)


def secret(namespace: str, name: str) -> str:
    """One Secret."""
    return f"/api/v1/namespaces/{namespace}/secrets/{name}"


def jobs(namespace: str) -> str:
    """The Jobs of a namespace."""
    return f"/apis/batch/v1/namespaces/{namespace}/jobs"


def pods(namespace: str) -> str:
    """The pods of a namespace."""
    return f"/api/v1/namespaces/{namespace}/pods"


def events(namespace: str) -> str:
    """The events of a namespace."""
    return f"/api/v1/namespaces/{namespace}/events"


def leases(namespace: str) -> str:
    """The leases of a namespace."""
    return f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"


def node(name: str) -> str:
    """One node."""
    return f"{NODES}/{name}"


def gpu_node(name: str) -> str:
    """One GPUNode."""
    return f"{GPU_NODES}/{name}"


def _collections(plural: str, namespaces: tuple[str, ...]) -> list[str]:
    if not namespaces:
        return [f"{OUR_API}/{plural}"]
    return [f"{OUR_API}/namespaces/{namespace}/{plural}" for namespace in namespaces]
