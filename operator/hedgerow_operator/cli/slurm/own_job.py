"""The batch job that this process is in, as Slurm's variables tell it. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from hedgerow_operator.core.slurm.hostlist import expand
from hedgerow_operator.core.slurm.sbatch_plan import RESTARTS

# What the first batch job of a task had, and a job of that task alone has not.
_OF_ARRAY = ("SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP")
# A submission from within a job must not take over what Slurm has said of that job.
_OF_JOB = ("SLURM_", "SLURMD_", "PMI_", "PMIX_", "HEDGEROW_STEPS")
_KEPT = ("SLURM_CONF", "SLURM_JWT", "SLURM_CONF_SERVER")
_GPUS = ("CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")


class OwnJob(Struct, frozen=True, kw_only=True):
    """job_id: what Slurm calls it by, 123_4 for a task of an array. task: the 4; "" outside of one. restarts: how often
    Slurm has requeued it.
    """

    job_id: str
    task: str = ""
    node: str = ""
    nodes: tuple[str, ...] = ()
    restarts: int = 0


def own_job(variables: Mapping[str, str]) -> OwnJob | None:
    """None outside of a batch job."""
    number, task = variables.get("SLURM_JOB_ID", ""), variables.get("SLURM_ARRAY_TASK_ID", "")
    if not number:
        return None
    restarts = variables.get(RESTARTS, "")
    try:
        nodes = expand(variables.get("SLURM_JOB_NODELIST", ""))
    except ValueError:
        nodes = ()
    return OwnJob(
        job_id=f"{variables.get('SLURM_ARRAY_JOB_ID', number)}_{task}" if task else number,
        task=task,
        node=variables.get("SLURMD_NODENAME", ""),
        nodes=nodes,
        restarts=int(restarts) if restarts.isdecimal() else 0,
    )


def array_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """What the script of a later batch job of this task is told of the array."""
    return {name: variables[name] for name in _OF_ARRAY if name in variables}


def for_submission(variables: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The variables that the next batch job is submitted with: as the first was, as far as they are known here.

    given: SBATCH_* of the first submission.
    """
    of_gpus = _GPUS if "SLURM_JOB_GPUS" in variables else ()
    kept = {
        name: value
        for name, value in variables.items()
        if name in _KEPT or not (name.startswith((*_OF_JOB, "SBATCH_")) or name in of_gpus)
    }
    return {**kept, **given}
