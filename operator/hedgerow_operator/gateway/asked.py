"""What the race is asked to do, and what comes of it."""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from msgspec import Struct

from hedgerow_operator.adapters.providers.contract import Answer, Call
from hedgerow_operator.gateway.settings import ProviderUse


class Accepted(Struct, frozen=True):
    """An answer that was looked at. fault: why it does not count, in a sentence; empty: it does."""

    answer: Answer
    fault: str = ""


class Ask(Struct, frozen=True, kw_only=True):
    """One request. call: it as this provider is to be given it, with so many seconds left. accept: whether an answer
    counts, and what is passed on of it. idempotent: it may be made twice. once: its body is gone after one attempt.
    deadline: when it is over, by the loop's clock. session: requests of the same prefer the same provider.
    """

    request_id: str
    call: Callable[[ProviderUse, float], Call]
    accept: Callable[[ProviderUse, Answer], Awaitable[Accepted]]
    deadline: float
    stream: bool = False
    idempotent: bool = True
    once: bool = False
    session: str | None = None


class WhyLost(StrEnum):
    """Why there is no answer."""

    DEADLINE = "Deadline"
    CLOSED = "Closed"
    NO_MONEY = "NoMoney"
    RATE_LIMITED = "RateLimited"
    FAILED = "Failed"


class LostError(Exception):
    """There is no answer. The message is for the client: a sentence. retry_after: seconds, where that may help.
    attempts: how many were made.
    """

    def __init__(self, why: WhyLost, message: str, *, retry_after: float | None = None, attempts: int = 0) -> None:
        super().__init__(message)
        self.why, self.retry_after, self.attempts = why, retry_after, attempts
