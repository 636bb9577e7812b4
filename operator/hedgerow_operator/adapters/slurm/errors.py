"""What Slurm has said when something failed, and whether it says anything about what was asked for."""

import re

# Slurm could not be asked, or cannot now: slurm_errno.c. Limits on what waits and runs at once pass by themselves.
_TRANSIENT = re.compile(
    r"unable to contact|connect(?:ion)? failure|connection refused|timed out|zero bytes were transmitted"
    r"|authentication error|invalid authentication|munge|configuration source|fetch_config|standby mode"
    r"|temporarily|unspecified error|unexpected message|insane message|incompatible versions|unable to resolve"
    r"|slurm_persist_conn|slurmdbd|try again|MaxSubmitJob|job queue full",
    re.IGNORECASE,
)
_UNKNOWN_JOB = re.compile(r"invalid job id|invalid job/step|no such job", re.IGNORECASE)
_ENDED_JOB = re.compile(r"already completing|already completed|already finished", re.IGNORECASE)
_NOT_DRAINED = re.compile(r"invalid node state", re.IGNORECASE)
_NO_ACCOUNTING = re.compile(r"accounting storage is disabled", re.IGNORECASE)
_SPEAKER = re.compile(
    r"^(?:\S*/)?(?:sbatch|scontrol|scancel|squeue|sinfo|sacct|slurm_\w+):? *(?:(?:error|fatal): *)?(?=\S)"
)
_LONGEST = 500


def sentence(output: str) -> str:
    """What it said, on one line, without its own name."""
    lines = [_SPEAKER.sub("", line.strip()) for line in output.splitlines()]
    told = "; ".join(line.rstrip(".") for line in lines if line)
    return told[:_LONGEST] or "it failed without a word"


def is_transient(output: str) -> bool:
    """Whether Slurm could not be asked or cannot do it now, so that nothing follows."""
    return bool(_TRANSIENT.search(output))


def says_unknown_job(output: str) -> bool:
    """Whether there is no such job (any more)."""
    return bool(_UNKNOWN_JOB.search(output))


def says_ended_job(output: str) -> bool:
    """Whether the job has ended already."""
    return bool(_ENDED_JOB.search(output))


def says_not_drained(output: str) -> bool:
    """Whether a node that was to be resumed needs no resuming."""
    return bool(_NOT_DRAINED.search(output))


def says_no_accounting(output: str) -> bool:
    """Whether the cluster keeps no accounts."""
    return bool(_NO_ACCOUNTING.search(output))
