"""Every reason that a condition, an incident, a history entry or an event can give. Nothing else may be written."""

from __future__ import annotations

# The job is on its way to training.
STARTING = "Starting"
WAITING_FOR_WORKERS = "WaitingForWorkers"
GATHERING = "Gathering"
JOB_HELD = "JobHeld"
NO_REPORTS = "NoReports"
TRAINING = "Training"
ENDING = "Ending"

# The job is on its way back to training.
RESTARTING = "Restarting"
BACKING_OFF = "BackingOff"
FENCING = "Fencing"
RECOVERED = "Recovered"
RESUMED = "Resumed"
SUSPENDED = "Suspended"
SUSPENDING = "Suspending"
NOT_SUSPENDED = "NotSuspended"
SUSPENDED_OUTSIDE = "SuspendedOutside"
PREEMPTED = "Preempted"

# Nothing can be said.
NOT_MEASURED = "NotMeasured"
REPORTS_LOST = "ReportsLost"
HEALTHY = "Healthy"
SUSPECT = "Suspect"

# Incident kinds: what stopped the progress.
NO_PROGRESS = "NoProgress"
RANK_STOPPED = "RankStopped"
RANK_EXITED = "RankExited"
RANKS_KILLED = "RanksKilled"
WORKER_LOST = "WorkerLost"
NODE_LOST = "NodeLost"
STARTUP_TIMEOUT = "StartupTimeout"
ENDING_TIMEOUT = "EndingTimeout"
HARDWARE_FAULT = "HardwareFault"
GANG_TIMEOUT = "GangTimeout"
PLACEMENT_FAILED = "PlacementFailed"
OUT_OF_MEMORY = "OutOfMemory"
TIME_LIMIT_REACHED = "TimeLimitReached"
REQUEUED = "Requeued"
CANCELLED_OUTSIDE = "CancelledOutside"

# The job goes on, but not as it should.
SLOWER_THAN_BASELINE = "SlowerThanBaseline"
SLOWER_THAN_PEERS = "SlowerThanPeers"
COMMUNICATION_SLOW = "CommunicationSlow"
MEMORY_GROWING = "MemoryGrowing"
METRIC_ALERT = "MetricAlert"
METRIC_NEVER_SEEN = "MetricNeverSeen"
AS_USUAL = "AsUsual"

# Incidents in which ranks live and stand still; in the others they have ended.
STALL_KINDS = frozenset({NO_PROGRESS, RANK_STOPPED, STARTUP_TIMEOUT, ENDING_TIMEOUT, HARDWARE_FAULT})

INCIDENT_KINDS = frozenset(
    {
        NO_PROGRESS,
        RANK_STOPPED,
        RANK_EXITED,
        RANKS_KILLED,
        WORKER_LOST,
        NODE_LOST,
        STARTUP_TIMEOUT,
        ENDING_TIMEOUT,
        HARDWARE_FAULT,
        GANG_TIMEOUT,
        PLACEMENT_FAILED,
        OUT_OF_MEMORY,
        TIME_LIMIT_REACHED,
        REQUEUED,
        CANCELLED_OUTSIDE,
        PREEMPTED,
        REPORTS_LOST,
    }
)

# The job has ended.
ALL_RANKS_FINISHED = "AllRanksFinished"
NOT_FINISHED = "NotFinished"
MAX_RESTARTS_EXCEEDED = "MaxRestartsExceeded"
NO_CHECKPOINT_PROGRESS = "NoCheckpointProgress"
APPLICATION_FAULT = "ApplicationFault"
ALERT_STOP = "AlertStop"
DEADLINE_EXCEEDED = "DeadlineExceeded"
NO_VALID_PLACEMENT = "NoValidPlacement"
TARGET_NOT_REACHED = "TargetNotReached"
CANCELLED = "Cancelled"

# Event reasons that are not the reason of a condition too.
ATTEMPT_STARTED = "AttemptStarted"
PLACEMENT_CREATED = "PlacementCreated"
INCIDENT_CLOSED = "IncidentClosed"
CHECKPOINT_CHOSEN = "CheckpointChosen"
CHECKPOINT_MARKED_BAD = "CheckpointMarkedBad"
CHECKPOINTS_SET_ASIDE = "CheckpointsSetAside"
NODE_EXCLUDED = "NodeExcluded"
EXCLUSION_TOO_TIGHT = "ExclusionTooTight"
EXCLUSION_ENDED = "ExclusionEnded"

# Of a GPUNode. What is wrong with a GPU itself carries the reason of the agent's own finding (GPULost, Xid79 …).
AGENT_HEARD = "AgentHeard"
AGENT_SILENT = "AgentSilent"
AGENTS_SILENT = "AgentsSilent"
NOT_QUARANTINED = "NotQuarantined"
QUARANTINED = "Quarantined"
RELEASED = "Released"
DEGRADED = "Degraded"

# What a node is avoided for because others speak against it.
NODE_SIGNAL = "NodeSignal"

# Of a SlurmCluster.
ANSWERS = "Answers"
UNREACHABLE = "Unreachable"
VERSION_NOT_SUPPORTED = "VersionNotSupported"
TOKEN_MISSING = "TokenMissing"  # noqa: S105  (a reason)
USER_REFUSED = "UserRefused"

# Of an InferenceEndpoint and a ServerlessProvider.
SERVING = "Serving"
NO_GATEWAY = "NoGateway"
INVALID_SPEC = "InvalidSpec"
PROVIDER_NOT_FOUND = "ProviderNotFound"
PROVIDERS_NOT_READY = "ProvidersNotReady"
SOME_PROVIDERS_NOT_READY = "SomeProvidersNotReady"
SECRET_MISSING = "SecretMissing"  # noqa: S105  (a reason)
PROVIDER_ANSWERS = "ProviderAnswers"
PROVIDER_NOT_HEALTHY = "ProviderNotHealthy"
OBJECTIVE_MISSED = "ObjectiveMissed"
WITHIN_BUDGET = "WithinBudget"
BUDGET_USED_UP = "BudgetUsedUp"
HEDGING_STOPPED = "HedgingStopped"
