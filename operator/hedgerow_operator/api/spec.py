"""What a user asks of a TrainingJob: ``spec``, with every default, in one place."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from hedgerow_operator.api.alerts import MAX_ALERTS, AlertSpec
from hedgerow_operator.api.model import StrictModel
from hedgerow_operator.api.recovery import HealthSpec, RecoverySpec
from hedgerow_operator.api.slurm_spec import SlurmSpec

# What the kernel can hand to a process: text that ends at its first NUL; a name of a variable ends at its first "=".
NO_NUL = r"^[^\x00]*$"
VARIABLE_NAME = r"^[^=\x00]+$"

MAX_WORKERS = 10_000
MAX_RANKS_PER_WORKER = 256
MAX_RANKS = 100_000


class EnvVar(StrictModel, frozen=True, kw_only=True):
    """One environment variable of the ranks."""

    name: Annotated[
        str, Meta(description="Name of the variable.", min_length=1, max_length=1024, pattern=VARIABLE_NAME)
    ]
    value: Annotated[str, Meta(description="Its value.", max_length=131072, pattern=NO_NUL)] = ""


class KubernetesSpec(StrictModel, frozen=True, kw_only=True):
    """Runs each worker as a pod of an Indexed Job."""

    template: Annotated[
        dict[str, Any],
        Meta(
            description="Template of the workers' pods, as in a Kubernetes Job; the command of one container is run "
            "as spec.processes says, those beside it are left alone and end with it."
        ),
    ]
    container: Annotated[
        str,
        Meta(
            description="Name of the container that trains; unset: the one that the annotation "
            "kubectl.kubernetes.io/default-container names, else the first.",
            max_length=63,
        ),
    ] = ""


class LocalSpec(StrictModel, frozen=True, kw_only=True):
    """Runs the ranks as processes of this machine (hedgerow local)."""

    command: Annotated[
        tuple[Annotated[str, Meta(max_length=65536, pattern=NO_NUL)], ...],
        Meta(
            description="Program and its arguments, such as [python, train.py] or [torchrun, train.py].",
            min_length=1,
            max_length=1024,
        ),
    ]
    env: Annotated[
        tuple[EnvVar, ...], Meta(description="Environment variables, added to those of hedgerow.", max_length=1024)
    ] = ()
    working_dir: Annotated[
        str,
        Meta(
            description="Directory that the ranks start in; a relative one counts from the manifest's.",
            min_length=1,
            max_length=4096,
            pattern=NO_NUL,
        ),
    ] = "."


class HeartbeatSpec(StrictModel, frozen=True, kw_only=True):
    """How progress is seen."""

    source: Annotated[
        Literal["Auto", "Library", "Torch", "Log"],
        Meta(
            description="Library: hedgerow.beat() in the training script. Torch: a hook on torch's optimizer step, "
            "without a change to the script. Log: lines that a rank prints; the usual trainers' are known. Auto: "
            "whichever speaks, in this order."
        ),
    ] = "Auto"
    log_pattern: Annotated[
        Annotated[str, Meta(min_length=1, max_length=1024, pattern=NO_NUL)] | None,
        Meta(
            description="Regular expression (Python) for lines that tell progress, with a group (?P<step>...) or "
            "(?P<phase>...), and as wanted time, loss and step_seconds; unset: the usual trainers' lines."
        ),
    ] = None


class CheckpointSpec(StrictModel, frozen=True, kw_only=True):
    """Where the job keeps its checkpoints and how they are checked."""

    directory: Annotated[
        str,
        Meta(
            description="Directory that the script writes to, as its ranks see it: absolute with kubernetes and "
            "slurm, absolute or relative to workingDir with local.",
            min_length=1,
            max_length=4096,
            pattern=NO_NUL,
        ),
    ]
    verify: Annotated[
        Literal["Content", "Size", "Markers"],
        Meta(
            description="What a checkpoint is checked for before a resume. Content: readable headers too. Size: all "
            "files with their sizes. Markers: the files that say it is complete."
        ),
    ] = "Content"
    on_invalid: Annotated[
        Literal["MoveAside", "Leave"],
        Meta(
            description="What becomes of checkpoints that are newer than the one to start from and proven invalid, for "
            "scripts that take the newest by themselves. MoveAside: before a start they are renamed (suffix "
            ".hedgerow-invalid) and a file that names one, such as latest, names the one to start from; hedgerow "
            "checkpoints --restore undoes it. Leave: nothing is touched."
        ),
    ] = "MoveAside"


class CostSpec(StrictModel, frozen=True, kw_only=True):
    """What lost time costs."""

    gpu_hour_usd: Annotated[
        str, Meta(description='Price of one rank for one hour in US dollars, as text: "2.49".', max_length=32)
    ] = msgspec.field(name="gpuHourUSD")


class TrainingJobSpec(StrictModel, frozen=True, kw_only=True):
    """What to train, where, and how to bring it back."""

    workers: Annotated[
        int,
        Meta(description="Number of workers: pods, Slurm nodes, or groups of local processes.", ge=1, le=MAX_WORKERS),
    ]
    ranks_per_worker: Annotated[
        int, Meta(description="Number of ranks (training processes) in each worker.", ge=1, le=MAX_RANKS_PER_WORKER)
    ]
    processes: Annotated[
        Literal["PerRank", "PerWorker"] | None,
        Meta(
            description="PerRank: the command is started once for each rank. PerWorker: once for each worker, and it "
            "starts the ranks itself. Unset: PerWorker where the command is torchrun, accelerate, deepspeed, python -m "
            "torch.distributed.run, or a shell script that calls one of them; else PerRank."
        ),
    ] = None
    master_port: Annotated[
        int, Meta(description="MASTER_PORT of the ranks; 0: a free one is picked for each start.", ge=0, le=65535)
    ] = 0
    suspend: Annotated[
        bool, Meta(description="True: ranks are stopped and workers removed until it is false again.")
    ] = False
    kubernetes: Annotated[
        KubernetesSpec | None, Meta(description="Run on Kubernetes. Exactly one of kubernetes, slurm and local is set.")
    ] = None
    slurm: Annotated[
        SlurmSpec | None, Meta(description="Run on Slurm. Exactly one of kubernetes, slurm and local is set.")
    ] = None
    local: Annotated[
        LocalSpec | None, Meta(description="Run on this machine. Exactly one of kubernetes, slurm and local is set.")
    ] = None
    heartbeat: Annotated[HeartbeatSpec, Meta(description="How progress is seen.")] = HeartbeatSpec()
    checkpoint: Annotated[
        CheckpointSpec | None, Meta(description="Checkpoints of the job; unset: every attempt starts from nothing.")
    ] = None
    health: Annotated[HealthSpec, Meta(description="When the job counts as stalled or slow.")] = HealthSpec()
    alerts: Annotated[
        tuple[AlertSpec, ...], Meta(description="Numbers to watch.", max_length=MAX_ALERTS)
    ] = ()
    recovery: Annotated[RecoverySpec, Meta(description="How the job is brought back.")] = RecoverySpec()
    cost: Annotated[
        CostSpec | None, Meta(description="Prices; with them the status says what was lost in dollars.")
    ] = None
    ttl_seconds_after_finished: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Seconds after its end at which the job is deleted; unset: kept."),
    ] = None
    active_deadline_seconds: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Seconds after its first start at which the job fails; unset: none."),
    ] = None

    @property
    def ranks(self) -> int:
        """Number of ranks of the whole job (WORLD_SIZE)."""
        return self.workers * self.ranks_per_worker

    @property
    def grace_seconds(self) -> int:
        """Seconds between SIGTERM and SIGKILL when ranks are asked to end: recovery.graceSeconds, or what the pods'
        own terminationGracePeriodSeconds gives them where that is longer.
        """
        template = self.kubernetes.template if self.kubernetes else {"spec": {}}
        of_pods = template["spec"].get("terminationGracePeriodSeconds")
        return max(self.recovery.grace_seconds, of_pods if isinstance(of_pods, int) else 0)
