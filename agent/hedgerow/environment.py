"""Names of the environment variables that the operator, the launcher and the ranks speak by."""

from __future__ import annotations

# Read by the launcher.
NPROC = "HEDGEROW_NPROC"
PROCESSES = "HEDGEROW_PROCESSES"
WORKER = "HEDGEROW_WORKER"
COMPLETION_INDEX = "JOB_COMPLETION_INDEX"  # set by Kubernetes in the pods of an Indexed Job
WORKERS = "HEDGEROW_WORKERS"
PLACEMENT = "HEDGEROW_PLACEMENT"
REPORT_URL = "HEDGEROW_REPORT_URL"
ADDRESS_FILE = "HEDGEROW_ADDRESS_FILE"
TOKEN_FILE = "HEDGEROW_TOKEN_FILE"  # noqa: S105 (a name, not a secret)
CA_FILE = "HEDGEROW_CA_FILE"
JOB_UID = "HEDGEROW_JOB_UID"
JOB_NAMESPACE = "HEDGEROW_JOB_NAMESPACE"
JOB_NAME = "HEDGEROW_JOB_NAME"
NODE = "HEDGEROW_NODE"
ADDRESS = "HEDGEROW_ADDRESS"
CHECKPOINT_DIRECTORY = "HEDGEROW_CHECKPOINT_DIRECTORY"
CHECKPOINT_VERIFY = "HEDGEROW_CHECKPOINT_VERIFY"
CHECKPOINT_ON_INVALID = "HEDGEROW_CHECKPOINT_ON_INVALID"
LOG_PATTERN = "HEDGEROW_LOG_PATTERN"
FENCE_SECONDS = "HEDGEROW_FENCE_SECONDS"
GRACE_SECONDS = "HEDGEROW_GRACE_SECONDS"
MASTER_PORT = "HEDGEROW_MASTER_PORT"
TEMPORARY = "HEDGEROW_TMP"
SLURM_LAUNCH = "HEDGEROW_SLURM_LAUNCH"
GPUS = "HEDGEROW_GPUS"
# LD_PRELOAD of the ranks, under a name that the launcher's own loader does not obey.
PRELOAD = "HEDGEROW_LD_PRELOAD"

# Read by the launcher and by the code injected into the ranks.
HEARTBEAT_SOURCE = "HEDGEROW_HEARTBEAT_SOURCE"

# Set by the supervisor of a batch job: the socket at which what stands for srun asks what to start.
STEPS = "HEDGEROW_STEPS"

# Set by the launcher for a command that starts the ranks itself: the folder that holds one folder for each rank.
RANKS = "HEDGEROW_RANKS"

# Set by the launcher for the ranks.
HEARTBEAT = "HEDGEROW_HEARTBEAT"
STACKS = "HEDGEROW_STACKS"
STACKS_SIGNAL = "HEDGEROW_STACKS_SIGNAL"
ATTEMPT = "HEDGEROW_ATTEMPT"
RESUME_FROM = "HEDGEROW_RESUME_FROM"

SOURCE_AUTO = "Auto"
SOURCE_LIBRARY = "Library"
SOURCE_TORCH = "Torch"
SOURCE_LOG = "Log"
SOURCES = (SOURCE_AUTO, SOURCE_LIBRARY, SOURCE_TORCH, SOURCE_LOG)
# Where progress by beats, by the torch hook, and by lines of output counts. It counts in this order.
LIBRARY_SOURCES = (SOURCE_AUTO, SOURCE_LIBRARY, SOURCE_TORCH)
TORCH_SOURCES = (SOURCE_AUTO, SOURCE_TORCH)
LOG_SOURCES = (SOURCE_AUTO, SOURCE_LOG)

# The launcher's own affairs: a rank is started without them.
LAUNCHER_ONLY = (
    NPROC,
    PROCESSES,
    REPORT_URL,
    ADDRESS_FILE,
    TOKEN_FILE,
    CA_FILE,
    LOG_PATTERN,
    FENCE_SECONDS,
    GRACE_SECONDS,
    MASTER_PORT,
    SLURM_LAUNCH,
    GPUS,
)
