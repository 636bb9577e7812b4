"""What reconciling needs from the outside world: small Protocols, implemented by the adapters."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from hedgerow.wire_agent import AgentReport
from hedgerow_operator.api.node_signals import NodeSignalSpec
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.seen import PlacementSeen


class JobKey(Struct, frozen=True, order=True):
    """Name of one job."""

    namespace: str
    name: str


class Unreachable(Exception):
    """The outside world could not be asked: nothing is known, nothing may be concluded. The message says why."""


class Conflict(Exception):
    """The object changed since it was read; read again and decide again."""


class Refused(Exception):
    """The outside world refuses the request for good; the message is for the job's status."""


class TooTight(Refused):
    """It is refused for the sake of the nodes that are to be avoided: with some of them it might be taken."""


class Jobs(Protocol):
    """Where job objects live. Every method may raise Unreachable."""

    async def get(self, key: JobKey) -> TrainingJob | None:
        """The job as stored now (not from a cache older than our last write), or None."""

    async def write_status(self, job: TrainingJob, status: TrainingJobStatus) -> TrainingJob:
        """Store the status guarded by job's resourceVersion; returns the job as stored. Raises Conflict."""

    async def annotate(self, job: TrainingJob, name: str, value: str) -> TrainingJob:
        """Set one annotation; returns the job as stored."""

    async def delete(self, job: TrainingJob) -> None:
        """Delete the job; gone already is fine."""

    async def record(self, job: TrainingJob, event: Event) -> None:
        """Tell people. Best effort: never raises."""


class Runtime(Protocol):
    """Where placements run. Every method may raise Unreachable."""

    fences_by_time: bool

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        """Every placement of the job of which anything still exists (owner object, pods, processes)."""

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        """Create the placement named by ``attempt``; exists already is fine. Raises Refused, TooTight."""

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        """Ask everything of the placement to go (no waiting); gone already is fine."""


class Farewell(Protocol):
    """What a job that is being deleted leaves behind where nobody else clears up."""

    async def leave(self, job: TrainingJob) -> bool:
        """Ask for its end (no waiting); whether nothing of it is left. Raises Unreachable, Conflict."""


class Machines(Protocol):
    """What the agents say of nodes."""

    def reports(self, names: Iterable[str]) -> Mapping[str, AgentReport]:
        """The newest reports of the agents of these nodes; of silent ones none."""

    def sick(self, names: Iterable[str]) -> Mapping[str, AgentReport]:
        """Those of them that found something fatal, as they last were."""

    def quarantined(self) -> Mapping[str, str]:
        """The nodes that new attempts avoid, and why in a word."""


class Signals(Protocol):
    """What others say of nodes."""

    async def against(self, specs: Iterable[NodeSignalSpec]) -> Mapping[str, str]:
        """What is said against nodes of this kind, as the end of a sentence, by node. Raises Unreachable."""


class Leadership(Protocol):
    """Whether this operator may act."""

    def holds(self) -> bool:
        """True while the lease is surely ours, by our own monotonic clock."""


class Metrics(Protocol):
    """Where passes are counted."""

    def reconciled(self, result: str, seconds: float) -> None:
        """One pass ended: ok, conflict, unreachable or error."""

    def incident_opened(self, kind: str) -> None:
        """One incident was opened."""

    def restarted(self, cause: str) -> None:
        """One attempt after the first began."""

    def jobs_by_state(self, counts: Mapping[str, int]) -> None:
        """How many jobs there are in each state."""

    def degraded_jobs(self, counts: Mapping[str, int]) -> None:
        """How many jobs go on, but not as they should, by reason."""
