"""Jobs and nodes as Slurm shows them, whichever driver asked: frozen structs."""

from collections.abc import Mapping

from msgspec import Struct


class SlurmJob(Struct, frozen=True, kw_only=True):
    """One job, array task or component of a heterogeneous job. Times are epoch seconds, None where there is none yet.

    id: as users write it: 123, 123_4 (task of an array), 123+1 (component). state: the base state in full, upper case
    (RUNNING); flags: what else stands beside it (REQUEUE_HOLD, COMPLETING…). nodes, excluded: names, one by one.
    exit_status: as wait(2) gives it; None: not known. time_limit_seconds: None: none, or not told. restarts: how often
    Slurm has requeued it. requeue: whether Slurm may.
    """

    id: str
    state: str
    flags: frozenset[str] = frozenset()
    reason: str = ""
    comment: str = ""
    name: str = ""
    user: str = ""
    partition: str = ""
    nodes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    exit_status: int | None = None
    submitted_at: float | None = None
    eligible_at: float | None = None
    started_at: float | None = None
    ended_at: float | None = None
    time_limit_seconds: float | None = None
    restarts: int = 0
    requeue: bool = False


class SlurmNode(Struct, frozen=True, kw_only=True):
    """One node. state: the base state in full, upper case (IDLE, ALLOCATED, MIXED, DOWN…); flags: what stands beside
    it (DRAIN, NOT_RESPONDING, COMPLETING…). reason: why it is down or drained; reason_user: who said so.
    """

    name: str
    state: str
    flags: frozenset[str] = frozenset()
    reason: str = ""
    reason_user: str = ""
    address: str = ""
    gres: str = ""
    partitions: tuple[str, ...] = ()


class Submission(Struct, frozen=True, kw_only=True):
    """One job to submit.

    script: the whole batch script. options: long names of sbatch's options without the dashes, such as
    {"nodes": "2", "exclude": "n3", "no-requeue": ""}; an empty value is an option without one. They count over
    ``#SBATCH`` lines of the script. environment: variables of the job beside the submitter's. directory: where it runs.
    """

    name: str
    comment: str
    script: str
    options: Mapping[str, str] = {}
    environment: Mapping[str, str] = {}
    directory: str = "/"
