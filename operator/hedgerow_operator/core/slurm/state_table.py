"""Every state, flag and pending reason of a Slurm job, and what it means: one table, which is also the documentation.

Names as in squeue(1) and Slurm's page "Job Reason Codes", of releases 22.05 to 25.11.
"""

from enum import StrEnum

from msgspec import Struct

from hedgerow_operator.api import reasons


class Kind(StrEnum):
    """Where a job stands. UNKNOWN: nobody says, ask again."""

    WAITING = "Waiting"
    HELD = "Held"
    STARTING = "Starting"
    ALIVE = "Alive"
    ENDING = "Ending"
    ENDED = "Ended"
    UNKNOWN = "Unknown"


class Row(Struct, frozen=True, kw_only=True):
    """What a state means.

    names: states or flags, any of which is shown. reasons: with one of these reasons only; * stands for anything.
    says: the end of a sentence that begins with the job; {id}: its number. then: what Hedgerow does about it.
    cause: as Meaning.cause. paused, hopeless: as in Meaning. modifier: says nothing by itself beside another state.
    """

    names: tuple[str, ...]
    kind: Kind
    says: str
    then: str
    reasons: tuple[str, ...] = ()
    cause: str = ""
    well: bool = False
    paused: bool = False
    hopeless: bool = False
    modifier: bool = False


_PENDING = ("PENDING",)
_WAITS = "waits with it, however long"
_RELEASES = "waits until somebody runs `scontrol release {id}`; nobody's hold is undone"
_TELLS = "says so: it would wait for ever"
_STANDS = (
    "waits: its standstill is nobody's fault; launchers that stood longer than recovery.fenceSeconds start their ranks "
    "again in place when it goes on, since another attempt might have begun"
)
_RESUMES = "goes on in another job from the newest checkpoint; not counted as a restart"

# Of several rows that fit the first one counts.
TABLE = (
    Row(names=("COMPLETING",), kind=Kind.ENDING,
        says="is ending: processes of it may still run", then="waits: nothing follows before it has ended"),
    Row(names=("STAGE_OUT",), kind=Kind.ENDING,
        says="is writing out its burst buffer", then="waits: nothing follows before it has ended"),
    Row(names=("REQUEUE_HOLD", "SPECIAL_EXIT"), kind=Kind.HELD, cause=reasons.JOB_HELD,
        says="was put back and is held; `scontrol release {id}` lets it go", then=_RELEASES),
    Row(names=("RESV_DEL_HOLD",), kind=Kind.HELD, cause=reasons.JOB_HELD,
        says="is held, since its reservation was deleted; `scontrol release {id}` lets it go", then=_RELEASES),
    Row(names=("REQUEUED", "REQUEUE_FED"), kind=Kind.WAITING, cause=reasons.REQUEUED,
        says="was put back and waits to run again", then="waits for its next run; not counted as a restart"),
    Row(names=("REVOKED",), kind=Kind.ENDED, cause=reasons.CANCELLED_OUTSIDE,
        says="was taken over by another cluster of the federation",
        then="the TrainingJob ends Failed: it may run there"),
    Row(names=("STOPPED",), kind=Kind.ALIVE, paused=True,
        says="is stopped by somebody, its processors kept", then=_STANDS),
    Row(names=("SUSPENDED",), kind=Kind.ALIVE, paused=True,
        says="is suspended by somebody, or by a job of higher priority",
        then=_STANDS),
    Row(names=("CONFIGURING", "POWER_UP_NODE"), kind=Kind.STARTING,
        says="has its nodes, which are being prepared", then=_WAITS),
    Row(names=("RUNNING",), kind=Kind.ALIVE,
        says="runs", then="goes by what the launchers report: RUNNING says nothing of progress"),
    Row(names=("RESIZING", "SIGNALING", "UPDATE_DB", "EXPEDITING"), kind=Kind.ALIVE, modifier=True,
        says="runs", then="goes by the state beside it"),
    Row(names=_PENDING, kind=Kind.HELD, cause=reasons.JOB_HELD,
        reasons=("JobHeldUser",),
        says="is held by its user; `scontrol release {id}` lets it go", then=_RELEASES),
    Row(names=_PENDING, kind=Kind.HELD, cause=reasons.JOB_HELD,
        reasons=("JobHeldAdmin",),
        says="is held by an administrator, who alone can release it", then=_RELEASES),
    Row(names=_PENDING, kind=Kind.HELD, cause=reasons.JOB_HELD,
        reasons=("JobHoldMaxRequeue", "launch failed requeued held", "job requeued in held state",
                 "ReservationDeleted"),
        says="is held by Slurm; `scontrol release {id}` lets it go", then=_RELEASES),
    Row(names=_PENDING, kind=Kind.WAITING, hopeless=True,
        reasons=("PartitionNodeLimit", "PartitionTimeLimit", "PartitionConfig", "BadConstraints", "AccountNotAllowed",
                 "InvalidAccount", "InvalidQOS", "QOSNotAllowed", "QOSMin*", "DependencyNeverSatisfied", "DeadLine",
                 "AssocMax*PerJob*", "AssocMax*PerNode*", "QOSMax*PerJob*", "QOSMax*PerNode*", "NodesNotInPartition"),
        says="cannot run as it was asked for, however long it waits", then=_TELLS),
    Row(names=_PENDING, kind=Kind.WAITING,
        reasons=("ReqNodeNotAvail", "Nodes required for job are*", "NodeDown", "PartitionDown", "PartitionInactive"),
        says="waits for nodes that are down, drained or reserved", then=_WAITS),
    Row(names=_PENDING, kind=Kind.WAITING,
        says="waits for its turn", then=_WAITS),
    Row(names=("COMPLETED",), kind=Kind.ENDED, well=True,
        says="has ended by itself with exit code 0", then="goes by what the launchers reported of the ranks"),
    Row(names=("CANCELLED",), kind=Kind.ENDED, cause=reasons.CANCELLED_OUTSIDE,
        says="was cancelled by somebody else",
        then="the TrainingJob ends Failed and is not restarted, unless Hedgerow itself had cancelled it"),
    Row(names=("TIMEOUT",), kind=Kind.ENDED, cause=reasons.TIME_LIMIT_REACHED,
        says="reached its time limit", then=_RESUMES),
    Row(names=("PREEMPTED",), kind=Kind.ENDED, cause=reasons.PREEMPTED,
        says="was preempted by a job of higher priority", then=_RESUMES),
    Row(names=("DEADLINE",), kind=Kind.ENDED, cause=reasons.DEADLINE_EXCEEDED,
        says="reached the deadline of its options", then="the TrainingJob ends Failed"),
    Row(names=("NODE_FAIL",), kind=Kind.ENDED, cause=reasons.NODE_LOST,
        says="lost a node",
        then="goes on in another job without that node, once nothing of this one can still run there"),
    Row(names=("BOOT_FAIL",), kind=Kind.ENDED, cause=reasons.PLACEMENT_FAILED,
        says="could not be started: a node did not boot", then="tries another job; counted"),
    Row(names=("OUT_OF_MEMORY",), kind=Kind.ENDED, cause=reasons.OUT_OF_MEMORY,
        says="ran out of memory", then="tries again once: the same end twice at one step gives up"),
    Row(names=("FAILED",), kind=Kind.ENDED, cause=reasons.PLACEMENT_FAILED,
        reasons=("JobLaunchFailure", "SystemFailure", "launch failed*", "PrologFailure"),
        says="could not be started on its nodes, or was killed there from outside (Slurm shows both alike); slurmd's "
        "log there says which and why (a full disk leaves the job without one)",
        then="tries another job; counted"),
    Row(names=("LAUNCH_FAILED", "RECONFIG_FAIL"), kind=Kind.ENDED, cause=reasons.PLACEMENT_FAILED,
        says="could not be started on its nodes", then="tries another job; counted"),
    Row(names=("FAILED",), kind=Kind.ENDED,
        says="has failed", then="goes by what the launchers reported of the ranks, else tries another job; counted"),
)  # fmt: skip

GONE = Row(names=("gone from squeue",), kind=Kind.UNKNOWN,
           says="is not shown any more",
           then="asks accounting for two minutes; then it has ended, and counts as nobody's fault")  # fmt: skip
STRANGE = Row(names=("anything else",), kind=Kind.UNKNOWN,
              says="is in a state that this release does not know", then="waits: nothing is concluded")  # fmt: skip
