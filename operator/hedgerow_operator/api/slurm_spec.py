"""``spec.slurm`` of a TrainingJob: each placement is one batch job of Slurm, each worker one of its nodes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.model import StrictModel

# Slurm takes 4 MB (max_script_size); a TrainingJob has to fit etcd's 1.5 MB, with its status.
MAX_SCRIPT = 1_000_000
MAX_OPTIONS = 64
# One line, as an argument of sbatch: no NUL, no line break.
ONE_LINE = r"^[^\x00\n\r]*$"
# A name of Slurm's database: partitions (several with commas), accounts, qualities of service.
_NAME = r"^[^\s\x00]*$"

PER_NODE = "PerNode"
PER_TASK = "PerTask"
NEW_JOB = "NewJob"
REQUEUE = "Requeue"


class ClusterRef(StrictModel, frozen=True, kw_only=True):
    """Names a SlurmCluster."""

    name: Annotated[str, Meta(description="Name of the SlurmCluster.", min_length=1, max_length=253)]
    namespace: Annotated[
        str,
        Meta(
            description="Its namespace, if it is not the job's own; its spec.allowedNamespaces must name the job's.",
            max_length=63,
        ),
    ] = ""


class SlurmSpec(StrictModel, frozen=True, kw_only=True):
    """Runs the workers as nodes of a batch job of Slurm. An attempt that needs new nodes is a new job, or a requeue."""

    cluster_ref: Annotated[
        ClusterRef | None,
        Meta(
            description="The SlurmCluster that the job is submitted to; unset: the commands sbatch, squeue and scancel "
            "of the machine that hedgerow local runs on."
        ),
    ] = None
    partition: Annotated[
        str, Meta(description="Partition, or several with commas; unset: the default one.", max_length=1024,
                  pattern=_NAME)
    ] = ""  # fmt: skip
    account: Annotated[
        str, Meta(description="Account that pays; unset: the user's default.", max_length=256, pattern=_NAME)
    ] = ""
    qos: Annotated[
        str, Meta(description="Quality of service; unset: the default one.", max_length=256, pattern=_NAME)
    ] = ""
    gres: Annotated[
        str,
        Meta(description="Generic resources of each node, such as gpu:8 or gpu:h100:8,nvme:1.", max_length=1024),
    ] = ""
    time_limit: Annotated[
        str,
        Meta(
            description='Longest run of one batch job: minutes, "hours:minutes:seconds" or '
            '"days-hours:minutes:seconds"; unset: the partition\'s. A job that reaches it goes on in a new one.',
            max_length=32,
        ),
    ] = ""
    launch: Annotated[
        Literal["PerNode", "PerTask"],
        Meta(
            description="PerNode: srun starts one launcher on each node, which starts the ranks. PerTask: srun starts "
            "every rank itself, with its binding and its PMI, for programs of MPI. A script that calls srun decides by "
            "its own line."
        ),
    ] = "PerNode"
    resubmit: Annotated[
        Literal["NewJob", "Requeue"],
        Meta(
            description="What follows on a batch job whose nodes have to change. NewJob: another batch job. Requeue: "
            "the same one again, with its id, so that jobs that depend on it go on waiting."
        ),
    ] = "NewJob"
    options: Annotated[
        dict[str, Annotated[str, Meta(max_length=4096, pattern=ONE_LINE)]],
        Meta(
            description="Further options of sbatch: long names without dashes, each with its value as text, empty "
            'where it has none: {mem: 200G, constraint: ib, exclusive: ""}.',
            max_length=MAX_OPTIONS,
        ),
    ] = msgspec.field(default_factory=dict)
    script: Annotated[
        str,
        Meta(
            description="The script that trains. Where it calls srun it is run once, on the first node, and what srun "
            "starts is watched. Where it does not, it is started as spec.processes says, by launchers on every node.",
            min_length=1,
            max_length=MAX_SCRIPT,
            pattern=r"^[^\x00]*$",
        ),
    ]
