"""What the shell observed, as frozen structs: the input of every decision."""

from collections.abc import Mapping

from msgspec import Struct

from hedgerow.wire import Report
from hedgerow.wire_agent import AgentReport
from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import SlurmJobStatus
from hedgerow_operator.core.nodes.places import GPUPlace
from hedgerow_operator.core.rank_sums import RankSums
from hedgerow_operator.core.watching.signs import Signs

WORKER_PENDING = "Pending"  # not placed, or placed and not started yet
WORKER_RUNNING = "Running"
WORKER_SUCCEEDED = "Succeeded"
WORKER_FAILED = "Failed"
WORKER_UNKNOWN = "Unknown"


class WorkerSeen(Struct, frozen=True, kw_only=True):
    """One pod / process group of a placement, as the place where it runs shows it.

    unschedulable: the scheduler's own sentence while no node takes it. terminating: asked to go, not gone yet.
    disrupted: preempted, drained or evicted (DisruptionTarget).
    node_silent: its node cannot be asked (kubelet silent). node_gone: the node object is deleted or it is out of
    service, so nothing can run there. waiting: why the container does not start (ImagePullBackOff …).
    running_seconds: since its container started. exit_code, exit_reason: of the wrapped container (OOMKilled …).
    last_words: the end of what a worker that failed has printed, one line.
    beside: the wrapped container has ended, and others of its pod still run.
    """

    index: int
    name: str
    phase: str
    node: str = ""
    address: str = ""
    unschedulable: str = ""
    pulling: bool = False
    waiting: str = ""
    terminating: bool = False
    disrupted: bool = False
    node_silent: bool = False
    node_gone: bool = False
    running_seconds: float | None = None
    exit_code: int | None = None
    exit_reason: str = ""
    last_words: str = ""
    beside: bool = False


class PlacementSeen(Struct, frozen=True, kw_only=True):
    """One placement of the job, named by its first attempt, with whatever of it still exists.

    removing: its owner object is being deleted or gone while workers are left. age_seconds: since its creation.
    ended: Succeeded or Failed when its owner object says that it is over, else "". report_url: where its launchers were
    told to report; empty where it is not known. avoided: nodes that it was made to avoid.
    cause: why it failed where the place tells, as a reason of ``api.reasons``; else "". waiting: why none of its
    workers is placed, as a sentence; held: somebody holds it back; hopeless: it waits
    for what never comes by itself. paused: who has stopped its processes, as a
    sentence; else "". was_paused: somebody has, at some time. slurm: the batch job that it is.
    """

    attempt: int
    workers: tuple[WorkerSeen, ...] = ()
    removing: bool = False
    ended: str = ""
    ended_reason: str = ""
    age_seconds: float = 0.0
    report_url: str = ""
    avoided: tuple[str, ...] = ()
    cause: str = ""
    waiting: str = ""
    held: bool = False
    hopeless: bool = False
    paused: str = ""
    was_paused: bool = False
    slurm: SlurmJobStatus | None = None


class Heard(Struct, frozen=True, kw_only=True):
    """The newest report of one launcher, how long ago it arrived (seconds), and its sums if they were made then."""

    report: Report
    age: float
    sums: RankSums | None = None


class Seen(Struct, frozen=True, kw_only=True):
    """Everything observed of one job at one moment.

    placements: every placement that still exists in any form; None: could not look (then nothing may be created,
    removed or restarted). heard: newest report of each launcher, of whatever attempt or placement.
    listening_seconds: how long this operator has been able to hear launchers; silence shorter than that means nothing.
    signs: what is unusual from report to report; None: nobody watched.
    stage_seconds: how long this operator has known the job in its stage, on a monotonic clock: what must not end early
    goes by this, since the time of day may jump.
    sick: newest reports of the agents that found something fatal, by node. quarantined: nodes that new attempts avoid,
    and why in a word. places: the GPU of each rank, as far as it was ever told. quiet: ranks that
    have not progressed for a moment and whose GPU does far less than while they trained, and what, as the end of a
    sentence.
    signals: what others say against nodes, of any of them, as the end of a sentence.
    fences_by_time: False where the runtime can always see whether processes live (local).
    blind: why it could not be looked. too_tight: why no placement can be made without the nodes that are avoided, in
    the place's own words.
    """

    placements: tuple[PlacementSeen, ...] | None
    heard: tuple[Heard, ...] = ()
    listening_seconds: float = 0.0
    signs: Signs | None = None
    stage_seconds: float = 0.0
    sick: Mapping[str, AgentReport] = {}
    quarantined: Mapping[str, str] = {}
    places: Mapping[int, GPUPlace] = {}
    quiet: Mapping[int, str] = {}
    signals: Mapping[str, str] = {}
    fences_by_time: bool = True
    blind: str = ""
    too_tight: str = ""

    @property
    def avoided(self) -> Mapping[str, str]:
        """The nodes that new attempts of this job avoid besides those of its status, and why in a word."""
        return {**dict.fromkeys(self.signals, reasons.NODE_SIGNAL), **self.quarantined}
