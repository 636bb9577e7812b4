"""What a provider shows of a job, and the calls by which it is begun, looked at and ended."""

from typing import Protocol

from msgspec import Struct

from hedgerow_operator.adapters.providers.contract import Answer, Call, ProviderError
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.core.hedging.seen import AttemptState

_ENDED = frozenset({AttemptState.VALID, AttemptState.FAILED, AttemptState.CANCELLED})


class Look(Struct, frozen=True, kw_only=True):
    """What is shown. status: in the provider's word. CANCELLED: ended by a cancel. execution_seconds: so far."""

    state: AttemptState
    status: str = ""
    answer: Answer | None = None
    error: ProviderError | None = None
    execution_seconds: float | None = None

    @property
    def ended(self) -> bool:
        """Nothing runs any more."""
        return self.state in _ENDED


class Taken(Struct, frozen=True, kw_only=True):
    """A job that was taken, and what the answer already showed of it."""

    job_id: str
    look: Look = Look(state=AttemptState.QUEUED)


class JobApi(Protocol):
    """The calls of one provider. All raise ProviderError; Trouble where there was an HTTP status.

    ends_when_acknowledged: it documents that a cancel it has taken ends the work. looks_per_second: its limit.
    """

    setup: Setup
    ends_when_acknowledged: bool
    free_in_queue: bool
    looks_per_second: float | None

    async def begin(self, call: Call) -> Taken:
        """Give it the job."""

    async def look(self, job_id: str) -> Look:
        """What it shows now."""

    async def stop(self, job_id: str) -> None:
        """Tell it to end the job."""
