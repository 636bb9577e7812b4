"""What a submission that Slurm refuses means: for good, for now, or for the sake of the nodes that it avoids. Pure."""

from enum import Enum, auto

# Slurm's own sentences (slurm_strerror), as sbatch and slurmrestd pass them on.
_TOO_TIGHT = (
    "Requested node configuration is not available",
    "Requested nodes are busy",
    "More processors requested than permitted",
    "Node count specification invalid",
)
_PASSES = (
    "Slurm temporarily unable to accept job",
    "Job violates accounting/QOS policy",
    "Unable to contact slurm controller",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Resource temporarily unavailable",
    "Required partition not available",
    "Slurm backup controller in standby mode",
    "Access/permission denied: job submission is disabled",
)
# What becomes of resubmit: Requeue by slurmrestd.
NO_REQUEUE = "slurmrestd has no requeue; write resubmit: NewJob, or use the driver CLI or PySlurm"


class Refusal(Enum):
    """How long it holds."""

    FOR_GOOD = auto()
    PASSES = auto()
    TOO_TIGHT = auto()


def kind_of(sentence: str, excludes: bool) -> Refusal:
    """excludes: the submission avoids nodes."""
    if excludes and any(words in sentence for words in _TOO_TIGHT):
        return Refusal.TOO_TIGHT
    return Refusal.PASSES if any(words in sentence for words in _PASSES) else Refusal.FOR_GOOD
