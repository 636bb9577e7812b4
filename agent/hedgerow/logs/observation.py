"""What one line of training output says."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Optional

# Names of values; units in the name or here: rates a second, memory in bytes.
LOSS = "loss"
GRAD_NORM = "grad_norm"
LEARNING_RATE = "learning_rate"
TOKENS_PER_SECOND = "tokens_per_second"
SAMPLES_PER_SECOND = "samples_per_second"
MEMORY_BYTES = "memory_bytes"
STEP_SECONDS = "step_seconds"
BATCH_SIZE = "batch_size"
SEQUENCE_LENGTH = "sequence_length"
SAMPLES = "samples"
TOTAL_STEPS = "total_steps"
NAN_STEPS = "nan_steps"

# What a line says of the end of the run.
SUCCESS = "Success"
TRAINED = "Trained"  # the training loop has ended; what follows it may still fail
TARGET_MISSED = "TargetMissed"  # ended by itself, below what it was to reach
CANCELLED = "Cancelled"
TIME_LIMIT = "TimeLimit"
PREEMPTED = "Preempted"
NODE_FAILED = "NodeFailed"
TERMINATED = "Terminated"  # a rank received SIGTERM
EXCEPTION = "Exception"
DEVICE_ERROR = "DeviceError"
CRASH = "Crash"
OUT_OF_MEMORY = "OutOfMemory"
EXIT = "Exit"  # a process ended with a code other than 0
STOPPED = "Stopped"  # the launcher was told to end the attempt; text: why
STARTED = "Started"  # another attempt begins: what ended before it is over

_NO_VALUES: Mapping[str, float] = {}

# Neither a step nor anything that the job has declared: between two phases.
PHASE_OUTSIDE = "outside"


class Observation(NamedTuple):
    """One line, read.

    source: name of the format. step: the job's own count of steps (or of samples where it counts those).
    phase: the phase that begins with this line, None: it stays. time: seconds by the log's own clock, None: not told;
    zoned: False for a clock time without time zone. elapsed: seconds that a progress bar says it has run.
    rank: global, as far as the line tells it; local_rank: of the node, where it tells only that; speaker: the prefix
    that tells one process from another. boundary: there was progress. finished: a unit of work (a step) has ended.
    values: what the job claims, by the names above. ending: what it says of the end of the run, text its words.
    """

    source: str
    step: Optional[int] = None
    phase: Optional[str] = None
    time: Optional[float] = None
    zoned: bool = True
    elapsed: Optional[float] = None
    rank: Optional[int] = None
    local_rank: Optional[int] = None
    speaker: str = ""
    boundary: bool = False
    finished: bool = False
    values: Mapping[str, float] = _NO_VALUES
    ending: Optional[str] = None
    text: str = ""
