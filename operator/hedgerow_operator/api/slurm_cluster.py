"""The SlurmCluster object: how a cluster of Slurm is reached, as whom, and by whose jobs. Times are RFC 3339."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.labels import API_VERSION, SLURM_CLUSTER_KIND
from hedgerow_operator.api.model import Model, StrictModel, list_keyed_by, to_builtins
from hedgerow_operator.api.status import Condition

REST = "REST"
CLI = "CLI"
PYSLURM = "PySlurm"

READY = "Ready"
_USER = r"^[^\s\x00:]*$"
_PATH = r"^/[^\x00\n]*$"


class SecretRef(StrictModel, frozen=True, kw_only=True):
    """One entry of a Secret."""

    name: Annotated[str, Meta(description="Name of the Secret, of the same namespace.", min_length=1, max_length=253)]
    key: Annotated[str, Meta(description="Its entry that holds the token.", min_length=1, max_length=253)] = "token"


class AllowedNamespace(StrictModel, frozen=True, kw_only=True):
    """A namespace whose jobs may use the cluster."""

    name: Annotated[str, Meta(description="Name of the namespace.", min_length=1, max_length=63)]
    user: Annotated[
        str,
        Meta(
            description="Who its jobs belong to on Slurm; unset: spec.user. The token must be one that may act for "
            "others, such as SlurmUser's.",
            max_length=256,
            pattern=_USER,
        ),
    ] = ""


class SlurmClusterSpec(StrictModel, frozen=True, kw_only=True):
    """How the cluster is reached, as whom, and by whose jobs."""

    driver: Annotated[
        Literal["REST", "CLI", "PySlurm"],
        Meta(
            description="REST: slurmrestd, from anywhere. CLI: sbatch, squeue and the like, where the operator runs. "
            "PySlurm: the module pyslurm, where the operator runs."
        ),
    ]
    url: Annotated[
        str,
        Meta(
            description="With REST: where slurmrestd listens, such as https://slurm.example:6820 or "
            "unix:/run/slurmrestd.",
            max_length=1024,
        ),
    ] = ""
    user: Annotated[
        str,
        Meta(
            description="Who the jobs belong to on Slurm; unset with CLI and PySlurm: whoever the operator runs as.",
            max_length=256,
            pattern=_USER,
        ),
    ] = ""
    token_secret_ref: Annotated[
        SecretRef | None,
        Meta(description="With REST over http(s): the JSON web token of that user; it is read again once it is over."),
    ] = None
    agent_token_secret_ref: Annotated[
        SecretRef | None,
        Meta(
            description="What node agents on this cluster show, the same on all of its nodes; unset: none is heard. "
            "They are believed about nodes that this cluster lists.",
        ),
    ] = None
    report_url: Annotated[
        str,
        Meta(
            description="Where launchers on the nodes reach the operator's report server, such as "
            "https://hedgerow.example.",
            max_length=1024,
        ),
    ] = msgspec.field(name="reportURL")
    token_directory: Annotated[
        str,
        Meta(
            description="Directory on a file system of all nodes for the launcher, the jobs' tokens and their scripts; "
            "the user must own it.",
            min_length=1,
            max_length=4096,
            pattern=_PATH,
        ),
    ]
    allow_drain: Annotated[
        bool, Meta(description="True: a node whose GPU is proven to be bad is drained; it needs the right to do so.")
    ] = False
    allowed_namespaces: Annotated[
        tuple[AllowedNamespace, ...],
        Meta(
            description="Other namespaces whose jobs may use the cluster; those of its own may.",
            max_length=1000,
            extra_json_schema=list_keyed_by("name"),
        ),
    ] = ()


class SlurmClusterStatus(Model, frozen=True, kw_only=True):
    """What is known of the cluster."""

    conditions: Annotated[
        tuple[Condition, ...],
        Meta(description="State of the cluster, one entry a type.", extra_json_schema=list_keyed_by("type")),
    ] = ()
    state: Annotated[str, Meta(description="The conditions in one word.")] = ""
    reason: Annotated[str, Meta(description="Why, in one word.")] = ""
    version: Annotated[str, Meta(description="Version of Slurm.")] = ""
    nodes: Annotated[str, Meta(description='Nodes that can take jobs, of those that there are: "7/8".')] = ""
    refused_users: Annotated[
        tuple[str, ...],
        Meta(description="Users of allowedNamespaces that the token does not let us act as; their jobs are refused."),
    ] = ()


class SlurmClusterMeta(Model, frozen=True, kw_only=True):
    """The fields of ``metadata`` that are read, or must survive a write of the status."""

    name: str
    namespace: str = "default"
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[dict[str, Any], ...] = ()
    deletion_timestamp: str | None = None


class SlurmCluster(Model, frozen=True, kw_only=True):
    """One cluster of Slurm."""

    api_version: str = API_VERSION
    kind: str = SLURM_CLUSTER_KIND
    metadata: SlurmClusterMeta
    spec: SlurmClusterSpec
    status: SlurmClusterStatus = SlurmClusterStatus()


def slurm_cluster(fields: dict[str, Any]) -> SlurmCluster:
    """The SlurmCluster in a plain dict, such as the API server gives; ValueError names the field that is wrong."""
    try:
        return msgspec.convert(fields, SlurmCluster)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def slurm_cluster_fields(cluster: SlurmCluster) -> dict[str, Any]:
    """The plain dict of a cluster, with the names of the API; what is None is left out."""
    fields: dict[str, Any] = to_builtins(cluster)
    return fields
