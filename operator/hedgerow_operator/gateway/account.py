"""The money of one endpoint in this gateway: what is held for its attempts, what they have cost, and their receipts.

Two ledgers are kept apart: what clients were answered is counted elsewhere; here is what providers charge, whether the
client was answered or not, and for attempts that served apart from those that did not.
"""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from hedgerow_operator.core.hedging.budget import Budget, Hold, Limits, OnExhausted
from hedgerow_operator.core.hedging.charges import NOTHING, Charge, Price, charge_of_answer, charge_of_loser
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt
from hedgerow_operator.gateway.journal import Journal
from hedgerow_operator.gateway.journal_entries import Given, Kept
from hedgerow_operator.gateway.ports import Ended, Ending, Launch

_LOST = "its provider did not say whether it has taken it"
_UNNAMED = "it has no name, so nobody can end it if it runs"


class Tally:
    """Of one provider since this process began. cost: nanodollars by (served, measured). receipts: by (evidence,
    leaked).
    """

    def __init__(self) -> None:
        self.cost = {(served, measured): 0 for served in (True, False) for measured in (True, False)}
        self.receipts = {(evidence, leaked): 0 for evidence in Evidence for leaked in (True, False)}
        self.attempts = 0

    @property
    def leaked(self) -> int:
        """Attempts of which it is not proven that they ended."""
        return sum(count for (_evidence, leaked), count in self.receipts.items() if leaked)


class Account:
    """See Money. clock: seconds since 1970 that never go back. quiet: none of its attempts is without an end."""

    def __init__(self, endpoint: str, journal: Journal, clock: Callable[[], float]) -> None:
        self.endpoint, self.budget = endpoint, Budget()
        self.tallies: dict[str, Tally] = {}
        self.running = self.refused = 0
        self.quiet = asyncio.Event()
        self.quiet.set()
        self._journal, self._clock = journal, clock

    def renew(self, limits: Limits, on_exhausted: OnExhausted) -> None:
        """From now on."""
        self.budget.limits, self.budget.on_exhausted = limits, on_exhausted

    async def reserve(self, launch: Launch) -> "Held | None":
        """See Money."""
        provider, now = launch.provider, self._clock()
        price = Price(provider.usd_per_second, provider.idle_billed_seconds)
        hold = Hold(provider.name, price.worst(launch.worst_seconds), launch.first)
        if not self.budget.reserve(hold, now):
            self.refused += 1
            return None
        kept = Kept(
            number=self._journal.number(),
            endpoint=self.endpoint,
            request_id=launch.request_id,
            hold=hold,
            price=price,
            launched_at=now,
        )
        held = self.adopt(kept)
        self.tally(provider.name).attempts += 1
        try:
            await self._journal.begin(kept)
        except BaseException:
            held.release()
            raise
        return held

    def may_hedge(self) -> bool:
        """See Money."""
        return self.budget.may_hedge(self._clock())

    def adopt(self, kept: Kept) -> "Held":
        """An attempt that is held in the budget already."""
        self.running += 1
        self.quiet.clear()
        return Held(self, kept)

    def take_back(self, kept: Kept) -> "Held":
        """One that an earlier process has left."""
        self.budget.hold(kept.hold)
        return self.adopt(kept)

    def tally(self, provider: str) -> Tally:
        """The provider's own."""
        tally = self.tallies.get(provider)
        if tally is None:
            tally = self.tallies[provider] = Tally()
        return tally

    def close(self, kept: Kept, charge: Charge, *, served: bool) -> None:
        """It is known what an attempt has cost."""
        now = self._settle(kept, charge, served)
        self._journal.ended(kept, charge, now)

    def close_given(self, kept: Kept, receipt: Receipt, tries: int) -> None:
        """An attempt that was given up has its receipt."""
        ran = max(0.0, self._clock() - kept.launched_at)
        charge = charge_of_loser(kept.price, kept.hold.amount, ran, receipt)
        now = self._settle(kept, charge, served=False)
        self.tally(kept.provider).receipts[receipt.evidence, receipt.leaked] += 1
        given = Given(
            endpoint=self.endpoint,
            request_id=kept.request_id,
            launched_at=kept.launched_at,
            at=now,
            why=kept.why,
            tries=tries,
            charge=charge,
            receipt=receipt,
        )
        self._journal.ended(kept, charge, now, given)

    def named(self, kept: Kept) -> None:
        """Its provider calls it so."""
        self._journal.named(kept)

    def given_up(self, kept: Kept) -> None:
        """It is to be ended."""
        self._journal.given_up(kept)

    def _settle(self, kept: Kept, charge: Charge, served: bool) -> float:
        now = self._clock()
        self.running -= 1
        if not self.running:
            self.quiet.set()
        self.budget.settle(kept.hold, charge, now)
        self.tally(kept.provider).cost[served, charge.measured] += charge.amount
        return now


class Held:
    """See Reservation. It is settled once, by whichever comes first."""

    def __init__(self, account: Account, kept: Kept) -> None:
        self.kept, self._account, self._over = kept, account, False

    def taken(self, job_id: str) -> None:
        """See Reservation."""
        self.kept = replace(self.kept, job_id=job_id)
        if not self._over:
            self._account.named(self.kept)

    def settle(self, ended: Ended) -> None:
        """See Reservation."""
        if self._over:
            return
        if ended.ending is Ending.LOST and not self.kept.job_id:
            self.give_up(_LOST)
            self.given(Receipt(provider=self.kept.provider, job_id="", note=_UNNAMED), 0)
            return
        self._over = True
        charge = NOTHING
        if ended.ending is not Ending.REFUSED:
            charge = charge_of_answer(self.kept.price, ended.seconds, ended.execution_seconds, ended.cost)
        self._account.close(self.kept, charge, served=ended.ending is Ending.WON)

    def release(self) -> None:
        """The attempt was not made."""
        if not self._over:
            self._over = True
            self._account.close(self.kept, NOTHING, served=False)

    def give_up(self, why: str) -> bool:
        """It is to be ended; whether there is anything to end."""
        if self._over:
            return False
        self.kept = replace(self.kept, why=why)
        self._account.given_up(self.kept)
        return True

    def given(self, receipt: Receipt, tries: int) -> None:
        """It has its receipt."""
        if not self._over:
            self._over = True
            self._account.close_given(self.kept, receipt, tries)
