"""What every provider can do. One session is shared by all calls to it; every documented limit is kept by a limiter."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from hedgerow_operator.core.hedging.receipts import Receipt
from hedgerow_operator.core.hedging.seen import AttemptState


class ProviderError(Exception):
    """The attempt has failed; the message is one sentence for people, without secrets.

    safe_to_retry: nothing can have begun (refused, or never connected). retry_after: seconds, where the provider says.
    exhausted: a quota or a balance is used up, which waiting does not mend. credentials: they are not accepted.
    """

    def __init__(
        self,
        message: str,
        *,
        safe_to_retry: bool = False,
        retry_after: float | None = None,
        exhausted: bool = False,
        credentials: bool = False,
    ) -> None:
        super().__init__(message)
        self.safe_to_retry, self.retry_after = safe_to_retry, retry_after
        self.exhausted, self.credentials = exhausted, credentials


# How names begin that we give, for want of one by the provider.
OUR_NAMES = "request-"


class Call(Struct, frozen=True, kw_only=True):
    """One request as a provider is to be given it, already in its own shape.

    path: below its endpoint, empty where it takes jobs. body: whole, or what a Job's input is. stream: the client reads
    as it comes. deadline: seconds from now. headers: what is passed on, never the client's credentials. upload: what
    follows on ``body``, too much to be kept; such a call is made once, and only of a provider that ``can_stream``.
    """

    method: str = "POST"
    path: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = {}
    stream: bool = False
    upload: AsyncIterator[bytes] | None = None
    deadline: float | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """What came back. body: whole, unless chunks are read. output: of a job, decoded. execution_seconds, queue_seconds,
    cost: as the provider says; None: it does not.
    """

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""
    output: Any = None
    chunks: AsyncIterator[bytes] | None = None
    queue_seconds: float | None = None
    execution_seconds: float | None = None
    cost: float | None = None


class Update(Struct, frozen=True, kw_only=True):
    """The attempt is in another state. answer: with VALID, which here means answered; whether it is valid is not for
    the provider to say. error: with FAILED.
    """

    state: AttemptState
    answer: Answer | None = None
    error: ProviderError | None = None


class Attempt(Protocol):
    """One submission that was taken. job_id: what the provider calls it, or ours where it calls it nothing."""

    job_id: str

    def updates(self) -> AsyncIterator[Update]:
        """Each change of its state until it has answered or failed; ends then. Never raises ProviderError."""

    async def cancel(self) -> Receipt:
        """Ask for its end, and wait for evidence as long as that makes sense there. Never raises; a failure is a
        receipt with no evidence. May be called again: the better evidence counts.
        """


class Health(Struct, frozen=True, kw_only=True):
    """ok: requests can be sent; sentence: why not, or what is odd. warm, queued: workers and jobs, None: not shown."""

    ok: bool
    sentence: str = ""
    warm: int | None = None
    queued: int | None = None


class Provider(Protocol):
    """One provider as one endpoint uses it."""

    name: str
    shows_start: bool
    free_in_queue: bool
    can_stream: bool
    usd_per_second: float
    idle_billed_seconds: float

    async def submit(self, call: Call) -> Attempt:
        """Raises ProviderError."""

    async def recover(self, job_id: str) -> Receipt:
        """End an attempt of which only the id is known, after a crash. As Attempt.cancel."""

    async def health(self) -> Health:
        """Without spending anything. Never raises."""

    async def set_warm(self, workers: int) -> bool:
        """Keep so many workers warm; False: there is no such knob. Raises ProviderError."""

    async def close(self) -> None:
        """Let go of the session."""
