"""The wire format between launchers and the operator: plain dataclasses, JSON with these field names.

A launcher encodes with :func:`encode` (standard library only); the operator decodes the same classes with msgspec.
Unknown fields pass, an unknown ``version`` is refused. Every report stands alone: nothing in it is a delta.
Times are seconds. ``*_age`` and ``*_seconds`` were measured by the sender's own monotonic clock (CLOCK_BOOTTIME),
so that no two machines' clocks are ever compared.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, List, Optional, Type, TypeVar

from hedgerow.phases import PHASE_CHECKPOINT as PHASE_CHECKPOINT
from hedgerow.phases import PHASE_ENDING as PHASE_ENDING
from hedgerow.phases import PHASE_EVAL as PHASE_EVAL
from hedgerow.phases import PHASE_FIRST_STEP as PHASE_FIRST_STEP
from hedgerow.phases import PHASE_INIT as PHASE_INIT
from hedgerow.phases import PHASE_OTHER as PHASE_OTHER
from hedgerow.phases import PHASE_STEP as PHASE_STEP
from hedgerow.plain import plain

VERSION = 1
REPORTS_PATH = "/v1/reports"
PEER_PATH = "/v1/peer"

# Histogram buckets of durations: bucket k holds lengths in (GROWTH**(k-1), GROWTH**k] milliseconds.
# 2**(1/4) keeps a quantile within 19 % of the true value in at most about 110 buckets up to a day.
DURATION_GROWTH = 2.0**0.25

MAX_PHASES = 64
MAX_PHASE_NAME = 64
# What 64 bits of nanoseconds hold, rounded up: no clock of a rank or of the kernel goes beyond.
MAX_SECONDS = 1e11

STAGE_WAITING = "Waiting"  # no attempt started here yet
STAGE_RUNNING = "Running"  # ranks started, not told to stop (some may have exited)
STAGE_STOPPING = "Stopping"  # told to stop, process groups not empty yet
STAGE_STOPPED = "Stopped"  # every process group of the attempt is empty

RANK_STARTING = "Starting"
RANK_RUNNING = "Running"
RANK_EXITED = "Exited"

CHECKPOINT_COMPLETE = "Complete"
CHECKPOINT_INVALID = "Invalid"
CHECKPOINT_NOT_VERIFIED = "NotVerified"

COMMAND_START = "start"
COMMAND_STOP = "stop"
COMMAND_DUMP = "dump"
COMMAND_FINISH = "finish"

STOP_COMMAND = "Command"
STOP_FENCE = "Fence"
STOP_SIGNAL = "Signal"
STOP_ENDED = "Ended"  # the ranks ended by themselves


@dataclasses.dataclass(frozen=True)
class JobRef:
    """Which job a report is about."""

    uid: str
    namespace: str
    name: str


@dataclasses.dataclass(frozen=True)
class Activity:
    """What the kernel says of one rank's process tree. A value that could not be read is None, never 0.

    process_state: letter of /proc/PID/stat of the rank itself (R, S, D, T, t, Z).
    wait_channel: kernel symbol or system call that the main thread sleeps in.
    cpu_seconds: user + system time of the tree so far. cpu_share: the same over the last seconds, in cores.
    idle_seconds: how long the tree used (almost) no CPU.
    io_idle_seconds: how long the tree read or wrote nothing.
    stack_unchanged_seconds: how long consecutive stack samples were identical; None without two samples.
    """

    process_state: Optional[str] = None
    wait_channel: Optional[str] = None
    cpu_seconds: Optional[float] = None
    cpu_share: Optional[float] = None
    idle_seconds: Optional[float] = None
    io_idle_seconds: Optional[float] = None
    stack_unchanged_seconds: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class CommunicationReport:
    """Time that one rank spends in collectives, waiting for others included: the last to arrive spends the least.

    seconds_per_step: mean over the last measured minute. share: of the time of a step, None when that is not known.
    source: DDP (its own logging data), Calls (explicit calls of torch.distributed) or both, DDP+Calls; else
    FlightRecorder (torch's, of NCCL) or Inspector (NCCL's own).
    age: seconds since it was measured. bus_gigabytes_per_second: NCCL's bus bandwidth (1e9 bytes) while it
    communicated, None where nobody measures it.
    """

    seconds_per_step: float
    share: Optional[float] = None
    source: str = ""
    age: float = 0.0
    bus_gigabytes_per_second: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class RankReport:
    """One rank of the attempt. ``rank`` is global.

    beats: progress boundaries so far (0: none; the phase is then ``init``). step: last step named by a beat.
    progress_age: seconds since the last boundary, or since the start while there is none.
    source: where progress comes from (Library, Torch, Log), None while nothing has been seen. Where the source is
    Log, usually one rank prints for all: the others have no source, and that says nothing about them.
    bursty: lines of source Log arrive many at a time (a block-buffered pipe); a duration is then the time from burst
    to burst, and silence between bursts is no evidence. Also where output is not read any more (a log pattern that
    took too long).
    step_seconds: median length of the recent steps. exit_age: seconds since it exited.
    stack: newest stack sample, all threads, most recent call first; output_tail: last lines it printed.
    values: newest numbers that the rank told (loss, grad_norm, learning_rate, tokens_per_second, …), finite ones only;
    not_finite: those whose newest value is NaN, Infinity or -Infinity, by name.
    memory_bytes: resident memory of the rank's process tree, what several processes share counted once.
    collectives: what torch's flight recorder held at the last ``dump``, or when torch dumped it by itself, reduced to
    where this rank is in each process group (``recorder_dump.expand`` gives torch's own form); None: nothing was read.
    devices: CUDA_VISIBLE_DEVICES of its main process; None: not set, or not to be read.
    collectives_age: seconds since torch wrote them. records: the flight recorder listens for such a command.
    output_unread_age: seconds since output of this rank was passed on but not read, because it came too fast; None: all
    was read.
    """

    rank: int
    local_rank: int
    state: str
    pid: Optional[int] = None
    exit_code: Optional[int] = None
    exit_signal: Optional[int] = None
    exit_age: Optional[float] = None
    beats: int = 0
    step: Optional[int] = None
    phase: str = PHASE_INIT
    progress_age: Optional[float] = None
    source: Optional[str] = None
    step_seconds: Optional[float] = None
    activity: Activity = Activity()
    stack: Optional[str] = None
    output_tail: List[str] = dataclasses.field(default_factory=list)
    bursty: bool = False
    values: Dict[str, float] = dataclasses.field(default_factory=dict)
    not_finite: Dict[str, str] = dataclasses.field(default_factory=dict)
    memory_bytes: Optional[int] = None
    communication: Optional[CommunicationReport] = None
    collectives: Optional[Dict[str, Any]] = None
    collectives_age: Optional[float] = None
    records: bool = False
    output_unread_age: Optional[float] = None
    devices: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """One candidate in the checkpoint directory. validity: Complete, Invalid or NotVerified, reason says why.

    written: wall time of its newest file (seconds since the epoch)."""

    step: int
    path: str
    validity: str
    reason: str = ""
    layout: str = ""
    written: float = 0.0
    size: int = 0


@dataclasses.dataclass(frozen=True)
class CheckpointScan:
    """The newest candidates, newest first. error: why nothing could be looked at (then candidates mean nothing).

    quiet: no rank was alive while it was taken, so nothing was being written. attempt: the attempt last seen here.
    """

    candidates: List[Checkpoint] = dataclasses.field(default_factory=list)
    error: Optional[str] = None
    quiet: bool = False
    attempt: int = 0


@dataclasses.dataclass(frozen=True)
class Report:
    """What one launcher knows, complete in itself.

    placement: first attempt of the placement that this launcher belongs to. attempt: the one that it runs or last
    ran, 0 before the first. launcher: random name of this launcher process. boot: kernel boot id.
    free_port: port that this worker proposes as MASTER_PORT of the next start; master_port: the one in use.
    peer_address: host:port where other launchers may ask this one; nonce: secret that worker 0 proposes for the
    attempt's launchers to know each other by. durations: phase -> histogram of this attempt (DURATION_GROWTH).
    stop_cause: why the ranks of ``attempt`` are stopping or gone (Command, Fence, Signal, Ended).
    memory_limit_bytes: what the ranks of this worker may use together (cgroup), None: no limit is known.
    unread_output_bytes: output of the ranks that was passed on but not read for progress, because it came too fast.
    dump_age: seconds since the last ``dump`` of this attempt was carried out; None: there was none.
    set_aside: what was renamed in the checkpoint directory before this attempt started, a line for a person each.
    step: the step of Slurm that this launcher is a task of, as JOB.STEP; empty elsewhere. once: ranks can be started
    here one time only, since what their place in MPI is told by serves once, or what started one of them has ended.
    """

    job: JobRef
    placement: int
    worker: int
    workers: int
    ranks_per_worker: int
    boot: str
    launcher: str
    seq: int
    sent_monotonic: float
    sent_wall: float
    stage: str
    version: int = VERSION
    attempt: int = 0
    stop_cause: Optional[str] = None
    host: str = ""
    node: str = ""
    address: str = ""
    free_port: int = 0
    master_port: int = 0
    peer_address: str = ""
    nonce: str = ""
    ranks: List[RankReport] = dataclasses.field(default_factory=list)
    durations: Dict[str, Dict[int, int]] = dataclasses.field(default_factory=dict)
    checkpoints: Optional[CheckpointScan] = None
    memory_limit_bytes: Optional[int] = None
    unread_output_bytes: int = 0
    dump_age: Optional[float] = None
    set_aside: List[str] = dataclasses.field(default_factory=list)
    step: str = ""
    once: bool = False


@dataclasses.dataclass(frozen=True)
class Command:
    """What a launcher is to do about ``attempt``. Commands may repeat: each is carried out at most once an attempt.

    start: begin ``attempt`` (ignored unless it is newer than any that began here and all process groups are empty).
    stop: end the ranks of ``attempt`` and any older; kill says without grace. dump: take stacks, report at once.
    finish: the job needs this launcher no more; exit with exit_code.
    """

    kind: str
    attempt: int = 0
    reason: str = ""
    kill: bool = False
    grace_seconds: float = 30.0
    resume_from: Optional[str] = None
    master_address: str = ""
    master_port: int = 0
    nonce: str = ""
    peers: List[str] = dataclasses.field(default_factory=list)
    exit_code: int = 0


@dataclasses.dataclass(frozen=True)
class Answer:
    """The operator's reply to a report.

    current: the report's attempt is the job's current one and not fenced; its sender may train on.
    deadlines: phase -> seconds without progress after which the launcher reports at once and samples stacks.
    interval_seconds: when the next report is due in calm.
    """

    current: bool
    interval_seconds: float = 5.0
    version: int = VERSION
    deadlines: Dict[str, float] = dataclasses.field(default_factory=dict)
    commands: List[Command] = dataclasses.field(default_factory=list)
    message: str = ""


@dataclasses.dataclass(frozen=True)
class PeerAnswer:
    """What one launcher tells another: whether ``attempt`` is the one it runs, and how old its operator's word is.

    answer_age: seconds since it sent the newest report that was answered ``current`` for this attempt; None: never.
    """

    attempt: int
    running: bool
    answer_age: Optional[float] = None
    version: int = VERSION


Message = TypeVar("Message")


def encode(message: Any) -> bytes:
    """JSON bytes of one of this module's dataclasses, without what is at its default."""
    return json.dumps(plain(message), separators=(",", ":")).encode()


def decode_answer(data: bytes) -> Answer:
    """The Answer in ``data``; ValueError says in one sentence what is wrong."""
    fields = _object(data)
    if fields.get("version") != VERSION:
        raise ValueError("answer has version %r; this launcher understands %d" % (fields.get("version"), VERSION))
    commands = [_build(Command, entry) for entry in fields.get("commands") or []]
    return _build(Answer, dict(fields, commands=commands))


def decode_peer_answer(data: bytes) -> PeerAnswer:
    """The PeerAnswer in ``data``; ValueError says in one sentence what is wrong."""
    return _build(PeerAnswer, _object(data))


def _object(data: bytes) -> Dict[str, Any]:
    fields = json.loads(data.decode())
    if not isinstance(fields, dict):
        raise ValueError("expected a JSON object")
    return fields


def _build(kind: Type[Message], fields: Any) -> Message:
    if not isinstance(fields, dict):
        raise ValueError("%s must be a JSON object" % kind.__name__)
    known = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    try:
        return kind(**{name: value for name, value in fields.items() if name in known})
    except TypeError as error:
        raise ValueError("%s: %s" % (kind.__name__, error)) from None
