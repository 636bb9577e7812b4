"""What the journal holds: attempts of which it is not known how they ended, receipts of losers, and what was spent."""

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
    odd: str = ""
