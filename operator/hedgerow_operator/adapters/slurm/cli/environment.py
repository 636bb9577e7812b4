"""The variables that Slurm's commands are run with."""

from collections.abc import Mapping

# Of Slurm's own variables only those that say where the cluster is. The others change what commands print
# (SQUEUE_FORMAT) or do (SBATCH_ARRAY_INX, SBATCH_WAIT), or are those of the job that this process itself runs in.
_KEPT = frozenset({"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SACK_SOCKET"})
_PREFIXES = (
    "SLURM_",
    "SLURMD_",
    "SLURMCTLD_",
    "SBATCH_",
    "SQUEUE_",
    "SINFO_",
    "SACCT_",
    "SCANCEL_",
    "SCONTROL_",
    "SRUN_",
)
# Moments as epoch seconds, whatever the time zone here and there (strftime's %s; squeue(1), SLURM_TIME_FORMAT).
_EPOCH_TIMES = {"SLURM_TIME_FORMAT": "%s"}


def for_queries(inherited: Mapping[str, str]) -> dict[str, str]:
    """For commands whose output is read."""
    return {**for_submission(inherited), **_EPOCH_TIMES}


def for_submission(inherited: Mapping[str, str], added: Mapping[str, str] | None = None) -> dict[str, str]:
    """For sbatch, which hands its variables on to the job. added: variables of the job."""
    kept = {name: value for name, value in inherited.items() if name in _KEPT or not name.startswith(_PREFIXES)}
    return {**kept, **(added or {})}
