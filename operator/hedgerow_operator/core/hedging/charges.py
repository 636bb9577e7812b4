"""What an attempt costs: at worst before it is made, and afterwards by the best that is known.

What a provider says that it charges is measured; all else is an estimate, and is never told as measured.
"""

from msgspec import Struct

from hedgerow_operator.core.hedging.dollars import nanos
from hedgerow_operator.core.hedging.receipts import Receipt

# An attempt that is given up at its deadline runs on until its end is seen: GPUHedge gave RunPod 20 s for it.
CANCEL_SECONDS = 20.0


class Price(Struct, frozen=True):
    """Of a provider: dollars a second of a worker, and how long that is billed after its work."""

    usd_per_second: float = 0.0
    idle_seconds: float = 0.0

    def of(self, seconds: float) -> int:
        """So long a worker, in nanodollars."""
        return nanos(self.usd_per_second * (max(0.0, seconds) + self.idle_seconds))

    def worst(self, seconds: float) -> int:
        """Of an attempt that is given up after so long at the latest."""
        return self.of(seconds + CANCEL_SECONDS)


class Charge(Struct, frozen=True):
    """amount: nanodollars. measured: the provider has said so."""

    amount: int
    measured: bool = False


NOTHING = Charge(0, measured=True)


def charge_of_answer(price: Price, ran: float, execution: float | None, cost: float | None) -> Charge:
    """Of an attempt that ended by itself. ran: seconds by our clock. execution, cost: as the provider says."""
    if cost is not None:
        return Charge(nanos(cost), measured=True)
    return Charge(price.of(ran if execution is None else execution))


def charge_of_loser(price: Price, held: int, ran: float, receipt: Receipt) -> Charge:
    """Of an attempt that was given up. ran: seconds from its launch until now. Without proof of its end: all that was
    held for it, or what it can have cost by now, if that is more.
    """
    if receipt.reconciled_cost is not None and not receipt.leaked:
        return Charge(nanos(receipt.reconciled_cost), measured=True)
    if receipt.leaked:
        told = receipt.reconciled_cost if receipt.reconciled_cost is not None else receipt.estimated_cost or 0.0
        return Charge(max(held, price.of(ran), nanos(told)))
    if receipt.estimated_cost is not None:
        return Charge(nanos(receipt.estimated_cost))
    return Charge(price.of(ran))
