"""Everything about money and losers in one gateway: the journal, an account for each endpoint, and the cancel queue."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hedgerow_operator.adapters.providers.contract import Provider
from hedgerow_operator.api.inference_spec import Budget as BudgetSpec
from hedgerow_operator.core.hedging.breaker import Circuit
from hedgerow_operator.core.hedging.budget import NO_LIMITS, Limits, OnExhausted
from hedgerow_operator.core.hedging.dollars import nanos_of, usd
from hedgerow_operator.core.hedging.leases import Asked
from hedgerow_operator.core.hedging.spent import DAY, HOUR
from hedgerow_operator.gateway.account import Account
from hedgerow_operator.gateway.cancel_queue import CancelQueue, Patience
from hedgerow_operator.gateway.job_book import EndpointJobs
from hedgerow_operator.gateway.journal import Journal
from hedgerow_operator.gateway.journal_entries import Given, Kept, KeptJob
from hedgerow_operator.gateway.losers import EndpointLosers, reap
from hedgerow_operator.gateway.protection import EndpointProtection

# An endpoint that an earlier process served, and this one does not after so long, is not coming back.
_UNSERVED_SECONDS = 600.0


class Spending(Struct, frozen=True, kw_only=True):
    """Of one endpoint in this gateway, in US dollars. hour, day: spent within the last; measured_day: the part of it
    that providers have said. held: for attempts that run, not in the others. providers: by name, within the last day.
    leaked, refused: attempts since the gateway began. exhausted: nothing is left.
    """

    hour: float
    day: float
    measured_day: float
    held: float
    providers: Mapping[str, float]
    leaked: int
    refused: int
    may_hedge: bool
    exhausted: bool


class Steady:
    """Seconds since 1970, of a clock that never goes back while the process runs."""

    def __init__(self) -> None:
        self._since, self._began = time.time(), time.monotonic()

    def __call__(self) -> float:
        return self._since + time.monotonic() - self._began


class Books:
    """path: of the journal, None: nothing outlives the process. share: whether each endpoint's budget is spread over
    several gateways, so that only what was granted by a lease may be spent here.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        share: bool = False,
        clock: Callable[[], float] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.journal, self.queue = Journal(path), CancelQueue(patience)
        self._clock, self._share = clock or Steady(), share
        self._accounts: dict[str, Account] = {}
        self._protection: dict[str, EndpointProtection] = {}
        self._budgets: dict[str, BudgetSpec | None] = {}
        self._leases: dict[str, Limits] = {}
        self._left: dict[str, list[Kept]] = {}
        self._left_jobs: dict[str, list[KeptJob]] = {}
        self._job_books: dict[str, EndpointJobs] = {}
        self._unserved: asyncio.TimerHandle | None = None

    def open(self) -> str:
        """Within the loop, before anything is served. What is odd, in a sentence; empty: nothing. Raises
        JournalInUseError, OSError, sqlite3.Error.
        """
        loaded, now = self.journal.open(), self._clock()
        for row in loaded.spent:
            self._account(row.endpoint).budget.charge(row.provider, row.charge, min(row.at, now))
        for kept in loaded.attempts:
            self._left.setdefault(kept.endpoint, []).append(kept)
        for job in loaded.jobs:
            self._left_jobs.setdefault(job.endpoint, []).append(job)
        self._leases = dict(loaded.leases)
        if self._left:
            loop = asyncio.get_running_loop()
            self._unserved = loop.call_later(_UNSERVED_SECONDS, self._give_up_unserved)
        return loaded.odd

    def parts(
        self, endpoint: str, providers: Sequence[Provider], budget: BudgetSpec | None = None
    ) -> tuple[Account, EndpointLosers, EndpointProtection]:
        """The money, losers and protection of ``namespace/name``; called anew, the same with other settings. Raises
        ValueError when an amount of the budget is none.
        """
        limits_of(budget)
        self._budgets[endpoint] = budget
        account = self._account(endpoint)
        self._renew(endpoint)
        names = [provider.name for provider in providers]
        protection = self._protection.get(endpoint)
        if protection is None:
            protection = EndpointProtection(names, asyncio.get_running_loop().time)
            self._protection[endpoint] = protection
        protection.renew(names)
        reap(account, self.queue, self._left.pop(endpoint, ()), providers)
        return account, EndpointLosers(endpoint, self.queue), protection

    def jobs(self, endpoint: str) -> EndpointJobs:
        """The names of the endpoint's jobs."""
        if endpoint not in self._job_books:
            left = self._left_jobs.pop(endpoint, ())
            self._job_books[endpoint] = EndpointJobs(endpoint, self.journal, left)
        return self._job_books[endpoint]

    def forget(self, endpoint: str) -> None:
        """It is served no more. What it spent is remembered, should it come back."""
        self._protection.pop(endpoint, None)

    def asked(self, gateway: str, endpoint: str) -> Asked:
        """What this gateway says to whoever grants leases."""
        account = self._account(endpoint)
        lease = self._leases.get(endpoint, Limits(0, 0))
        return Asked(gateway=gateway, lease=lease, used=account.budget.used(self._clock()))

    def lease(self, endpoint: str, lease: Limits) -> None:
        """The part of the budget that this gateway may spend from now on."""
        self._leases[endpoint] = lease
        self.journal.lease(endpoint, lease)
        self._renew(endpoint)

    def spending(self, endpoint: str) -> Spending:
        """Up to now."""
        account, now = self._account(endpoint), self._clock()
        budget, left = account.budget, account.budget.left(now)
        return Spending(
            hour=usd(budget.total(HOUR, now)),
            day=usd(budget.total(DAY, now)),
            measured_day=usd(budget.total(DAY, now, measured=True)),
            held=usd(budget.holding),
            providers={name: usd(spent.total(DAY, now)) for name, spent in budget.spent.items()},
            leaked=sum(tally.leaked for tally in account.tallies.values()),
            refused=account.refused,
            may_hedge=account.may_hedge(),
            exhausted=left is not None and left <= 0,
        )

    def circuits(self, endpoint: str) -> Mapping[str, Circuit]:
        """By provider."""
        protection = self._protection.get(endpoint)
        return protection.circuits() if protection is not None else {}

    def receipts(self, most: int = 100, endpoint: str | None = None) -> list[Given]:
        """The newest first."""
        return self.journal.receipts(most, endpoint)

    def accounts(self) -> Mapping[str, Account]:
        """By endpoint."""
        return self._accounts

    async def until_quiet(self, endpoint: str, seconds: float) -> bool:
        """Wait until none of its attempts is left without a receipt, no longer than this; whether that is so."""
        try:
            async with asyncio.timeout(seconds):
                await self._account(endpoint).quiet.wait()
        except TimeoutError:
            return False
        return True

    async def drain(self, seconds: float) -> None:
        """Wait until all losers have their receipts, but no longer than this."""
        await self.queue.drain(seconds)

    async def close(self) -> None:
        """What has no receipt yet stays in the journal, for the next process."""
        if self._unserved is not None:
            self._unserved.cancel()
        await self.queue.close()
        await self.journal.close()

    def _account(self, endpoint: str) -> Account:
        account = self._accounts.get(endpoint)
        if account is None:
            account = self._accounts[endpoint] = Account(endpoint, self.journal, self._clock)
        return account

    def _renew(self, endpoint: str) -> None:
        budget = self._budgets.get(endpoint)
        limits = limits_of(budget)
        if self._share:
            limits = within(limits, self._leases.get(endpoint, Limits(0, 0)))
        chosen = OnExhausted(budget.on_exhausted) if budget is not None else OnExhausted.STOP_HEDGING
        self._account(endpoint).renew(limits, chosen)

    def _give_up_unserved(self) -> None:
        for endpoint, left in self._left.items():
            reap(self._account(endpoint), self.queue, left, ())
        self._left = {}


def limits_of(budget: BudgetSpec | None) -> Limits:
    """As the manifest says. Raises ValueError with a sentence."""
    if budget is None:
        return NO_LIMITS
    hourly, daily = budget.hourly_usd, budget.daily_usd
    return Limits(
        None if hourly is None else nanos_of(hourly, "spec.budget.hourlyUSD"),
        None if daily is None else nanos_of(daily, "spec.budget.dailyUSD"),
    )


def within(limits: Limits, lease: Limits) -> Limits:
    """The lease, where there is a limit at all."""
    return Limits(
        None if limits.hourly is None else min(limits.hourly, lease.hourly or 0),
        None if limits.daily is None else min(limits.daily, lease.daily or 0),
    )
