"""What the journal holds: attempts that may run, receipts of losers, what was spent, and the names of jobs."""

from msgspec import Struct

from hedgerow_operator.core.hedging.budget import Hold, Limits
from hedgerow_operator.core.hedging.charges import Charge, Price
from hedgerow_operator.core.hedging.receipts import Receipt


class Kept(Struct, frozen=True, kw_only=True):
    """One attempt. launched_at: seconds since 1970. job_id: empty until the provider has taken it. why: it was given
    up; empty: it was not.
    """

    number: int
    endpoint: str
    request_id: str
    hold: Hold
    price: Price
    launched_at: float
    job_id: str = ""
    why: str = ""

    @property
    def provider(self) -> str:
        """Its name."""
        return self.hold.provider


class Given(Struct, frozen=True, kw_only=True):
    """The receipt of one attempt that was given up. at: when that was known; tries: how often its end was asked for."""

    endpoint: str
    request_id: str
    launched_at: float
    at: float
    why: str
    tries: int
    charge: Charge
    receipt: Receipt


class KeptJob(Struct, frozen=True, kw_only=True):
    """A job that a client may ask for. until: seconds since 1970. state: in which it ended; empty: it has not. error:
    as its client was told. webhook: whom to tell of its end; empty: nobody, any more.
    """

    id: str
    endpoint: str
    until: float
    state: str = ""
    error: str = ""
    webhook: str = ""


class SpentRow(Struct, frozen=True):
    """What was spent in one minute. at: its beginning."""

    endpoint: str
    provider: str
    at: float
    charge: Charge


class Loaded(Struct, frozen=True, kw_only=True):
    """What an earlier process has left. odd: a sentence, where something is wrong with the file."""

    attempts: tuple[Kept, ...] = ()
    spent: tuple[SpentRow, ...] = ()
    leases: dict[str, Limits] = {}
    jobs: tuple[KeptJob, ...] = ()
    odd: str = ""
