"""What the data path needs of others: money, the end of losers, protection of providers, and what a valid answer is.

All are called on the gateway's loop. What is no coroutine must not wait; the data path waits for what is one.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from hedgerow_operator.adapters.providers.contract import Answer, Attempt, Provider
from hedgerow_operator.adapters.providers.scrubbing import Scrubber
from hedgerow_operator.gateway.journal_entries import KeptJob


class Launch(Struct, frozen=True, kw_only=True):
    """One attempt that is about to be made. first: no other of the request lives. worst_seconds: it is over by then."""

    request_id: str
    provider: Provider
    first: bool
    worst_seconds: float


class Ending(StrEnum):
    """How an attempt ended without being cancelled. REFUSED: nothing can have begun. LOST: it failed after that."""

    WON = "Won"
    INVALID = "Invalid"
    REFUSED = "Refused"
    LOST = "Lost"


class Ended(Struct, frozen=True, kw_only=True):
    """seconds: from its launch to its end, by our clock. execution_seconds, cost: where the provider says them."""

    ending: Ending
    seconds: float
    execution_seconds: float | None = None
    cost: float | None = None


class Reservation(Protocol):
    """The worst case of one attempt, held, and its line in the journal. Ends by ``settle`` or in ``Losers.give``."""

    def taken(self, job_id: str) -> None:
        """The provider has taken it and calls it so."""

    def settle(self, ended: Ended) -> None:
        """It has ended by itself."""


class Money(Protocol):
    """Of one endpoint."""

    async def reserve(self, launch: Launch) -> Reservation | None:
        """Hold its worst case and write it down, before it is made. None: there is not enough left."""

    def may_hedge(self) -> bool:
        """Whether there is more left than first attempts need."""


class Loser(Struct, frozen=True, kw_only=True):
    """An attempt that is given up. ran_seconds: since its launch. why: for people, as "another provider answered"."""

    request_id: str
    provider: Provider
    attempt: Attempt
    reservation: Reservation
    ran_seconds: float
    why: str


class Losers(Protocol):
    """Ends attempts, within each provider's limits, until there is a receipt."""

    def give(self, loser: Loser) -> None:
        """Take it over: nobody waits for it."""


class Protection(Protocol):
    """Of one endpoint: which providers are left alone for a while, and whether there is room for more attempts."""

    def is_open(self, provider: str) -> bool:
        """Whether it may be given an attempt now; a provider that is tried again is open for a probe only."""

    def launched(self, provider: str) -> None:
        """It is given an attempt."""

    def ended(self, provider: str, well: bool | None) -> None:
        """An attempt has ended. well: it has answered; None: given up, or our own mistake: nothing follows from it."""

    def allows_more(self, provider: str) -> bool:
        """Whether it may be given an attempt beyond a request's first (gRPC A6: above half of its tokens)."""


class Validator(Protocol):
    """One rule for answers. needs_body: it cannot be asked of an answer that is passed on as it comes."""

    needs_body: bool

    async def check(self, answer: Answer) -> str:
        """Why it is no valid answer, in a sentence; empty: it is one. Never raises."""


class JobBook(Protocol):
    """The names of one endpoint's jobs, which outlive the gateway; seconds: for how long they can be asked for."""

    def left(self) -> tuple[KeptJob, ...]:
        """Those of an earlier process; once."""

    async def begun(self, job_id: str, seconds: float, webhook: str) -> None:
        """There is one; it is written when this returns."""

    def ended(self, job_id: str, state: str, error: str, seconds: float) -> None:
        """It has ended so."""

    def forgotten(self, job_id: str) -> None:
        """Nobody can ask for it any more."""


class Parts(Struct, frozen=True, kw_only=True):
    """What one endpoint is made of, by its settings. scrubbers: by provider, where it is sent secrets. jobs: None:
    their names end with the gateway.
    """

    providers: Sequence[Provider]
    money: Money
    losers: Losers
    protection: Protection
    validators: Sequence[Validator] = ()
    scrubbers: Mapping[str, Scrubber] = {}
    jobs: JobBook | None = None
