"""One request over several providers: what the policy asks for is done, and the first valid answer is handed back.

The client's answer is never held back for what has to be ended: losers go to a queue of their own.
"""

import asyncio

from msgspec import Struct

from hedgerow_operator.adapters.providers.contract import Answer
from hedgerow_operator.core.hedging.decision import Decision
from hedgerow_operator.core.hedging.seen import AttemptState, Situation
from hedgerow_operator.gateway.aftermath import notice, remember
from hedgerow_operator.gateway.asked import Ask, LostError, WhyLost
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.losing import lost, may_come_back_at
from hedgerow_operator.gateway.run import Run

# The client has gone, or the gateway that served it is about to.
LEFT = "nobody waits for its answer any more"
# A policy that asks for something at every look would never end.
_MOST_LOOKS = 1000
# A hedge that load or money forbids is thought of again after so long.
_AGAIN_SECONDS = 1.0
# One retry layer: no request makes more attempts than this for each of its providers.
_MOST_ATTEMPTS_EACH = 3


class Won(Struct, frozen=True, kw_only=True):
    """queue_seconds: how long the winner waited for its worker; None: nobody has told. run: to be finished once the
    answer was passed on, or abandoned.
    """

    answer: Answer
    provider: str
    attempts: int
    run: Run
    queue_seconds: float | None = None


class Race:
    """One request; ``run`` is called once."""

    def __init__(self, endpoint: Endpoint, ask: Ask) -> None:
        self.endpoint, self.ask, self.over = endpoint, ask, False
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._order = endpoint.order(ask.session, self._began)
        self._runs: list[Run] = []
        self._winner: Run | None = None
        self._hedged = self._news = False
        self._may = True
        self._again: float | None = None
        self._shown = 0.0
        self._waiter: asyncio.Future[None] | None = None

    async def run(self) -> Won:
        """The first valid answer. Raises LostError when there is none, and ends all attempts when it is cancelled."""
        endpoint = self.endpoint
        endpoint.counts.requests += 1
        endpoint.load.request()
        why = LEFT
        try:
            await self._until_won()
            why = "another provider has answered"
            return self._won()
        except LostError:
            why = "the request has failed"
            raise
        finally:
            self._close(why)

    @property
    def any_started(self) -> bool:
        """Whether a worker has begun with it, as far as anybody has told."""
        return any(run.started_at is not None for run in self._runs)

    def wins(self, run: Run) -> bool:
        """See Round."""
        if self._winner is None and not self.over:
            self._winner = run
        return self._winner is run

    def changed(self) -> None:
        """See Round."""
        self._news = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _until_won(self) -> None:
        looks = 0
        while looks < _MOST_LOOKS:
            if self._winner is not None:
                return
            now = self._loop.time()
            if now >= self.ask.deadline:
                raise lost(self._runs, WhyLost.DEADLINE)
            self._take_notice(now)
            decision = self.endpoint.settings.policy.decide(self._situation(now))
            if self._act(decision, now):
                looks += 1
                continue
            looks = 0
            await self._change(self._until(decision, now))
        raise lost(self._runs, WhyLost.FAILED)

    def _until(self, decision: Decision, now: float) -> float:
        """Until when nothing is to be done unless there is news. Raises LostError when nothing can come any more."""
        until = self.ask.deadline
        back_at = self._back_at(now)
        if back_at is not None:
            until = min(until, back_at)
        elif all(run.over for run in self._runs):
            raise lost(self._runs, WhyLost.FAILED if self._runs else WhyLost.CLOSED, self._closed_seconds(now))
        self._again = None
        if not self._may:
            until = min(until, now + _AGAIN_SECONDS)
        # As the policy has been shown the time: by rounding, a moment that is still to come for it may be now.
        if decision.again_at is not None and decision.again_at > self._shown:
            self._again = decision.again_at
            until = min(until, self._began + decision.again_at)
        return until

    def _situation(self, now: float) -> Situation:
        """A policy that asked to be asked again at a moment is shown that moment, not the bit later that it is."""
        since, again = now - self._began, self._again
        if again is not None and now >= self._began + again:
            since, self._again = again, None
        self._shown = since
        any_live = any(run.live for run in self._runs)
        self._may = self._may_hedge(any_live)
        ask, endpoint = self.ask, self.endpoint
        closed = self._runs and not self._may_be_made_twice()
        return Situation(
            now=since,
            providers=tuple(
                endpoint.seen(name, ask.stream, now, not closed and endpoint.is_open(name, now)) for name in self._order
            ),
            attempts=tuple(run.seen(self._began, any_live) for run in self._runs if not run.forgotten),
            max_live=endpoint.settings.max_live,
            may_hedge=self._may,
        )

    def _is_open(self, name: str, now: float) -> bool:
        endpoint = self.endpoint
        if not endpoint.is_open(name, now) or (self.ask.once and not endpoint.providers[name].can_stream):
            return False
        return not self._runs or endpoint.parts.protection.allows_more(name)

    def _may_be_made_twice(self) -> bool:
        """Or, where it may not, whether nothing of it can have begun so far."""
        if self.ask.once:
            return False
        return self.ask.idempotent or all(
            run.unaffordable or (run.error is not None and run.error.safe_to_retry) for run in self._runs
        )

    def _may_hedge(self, any_live: bool) -> bool:
        if not self._runs:
            return True
        if len(self._runs) >= _MOST_ATTEMPTS_EACH * len(self._order):
            return False
        return not any_live or (self.endpoint.load.allows() and self.endpoint.parts.money.may_hedge())

    def _act(self, decision: Decision, now: float) -> bool:
        """Whether there was anything to do. Launches come first: nothing is given up for what could not be begun."""
        if decision.launch and decision.cancel and not self.endpoint.parts.money.may_hedge():
            return False  # what would take over could not be paid
        for name in decision.launch:
            self._launch(name, now)
        given_up = [run for run in self._runs if run.live and run.provider.name in decision.cancel]
        if not self.ask.idempotent or self.ask.once:
            given_up = []
        for run in given_up:
            if run.state is AttemptState.QUEUED and run.provider.free_in_queue:
                self.endpoint.load.give_back()
            run.give_up("it was queued too long", now)
        return bool(decision.launch or given_up)

    def _launch(self, name: str, now: float) -> None:
        endpoint, beside = self.endpoint, any(run.live for run in self._runs)
        if beside:
            self._hedged = True
            endpoint.load.take()
        gap = endpoint.learned.launched(name, now)
        run = Run(self, endpoint.providers[name], now, first=not beside, gap=gap)
        endpoint.parts.protection.launched(name)
        self._runs.append(run)
        endpoint.start(run.start())

    def _take_notice(self, now: float) -> None:
        """Of attempts that have ended, and of those whose provider may be tried anew."""
        for run in self._runs:
            if run.over and not run.told:
                notice(self.endpoint, run, self._winner, now)
            at = may_come_back_at(run)
            if at is not None and at <= now:
                run.forgotten = True

    def _back_at(self, now: float) -> float | None:
        """When the next provider that wants us to wait may be asked again; None: waiting does not help."""
        if len(self._runs) >= _MOST_ATTEMPTS_EACH * len(self._order):
            return None
        times = [at for at in map(may_come_back_at, self._runs) if at is not None]
        if not self._runs:
            times = [at for at in map(self.endpoint.waits_until, self._order) if at is not None and at > now]
        return min(times, default=None)

    def _closed_seconds(self, now: float) -> float | None:
        times = [self.endpoint.closed_until.get(name, now) - now for name in self._order]
        return min((seconds for seconds in times if seconds > 0), default=None)

    async def _change(self, until: float) -> None:
        if not self._news:
            self._waiter = self._loop.create_future()
            timer = self._loop.call_at(until, self._time_has_come)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        self._news = False

    def _time_has_come(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _won(self) -> Won:
        run = self._winner
        assert run is not None
        assert run.answer is not None
        queued = run.answer.queue_seconds
        if queued is None and run.started_at is not None:
            queued = run.started_at - run.launched_at
        return Won(
            answer=run.answer,
            provider=run.provider.name,
            attempts=len(self._runs),
            run=run,
            queue_seconds=queued,
        )

    def _close(self, why: str) -> None:
        self.over, now = True, self._loop.time()
        for run in self._runs:
            if run is not self._winner:
                run.drop(why, now)
        if self._winner is not None and why == LEFT:
            self._winner.abandon(why, now)
        self._loop.call_soon(self._remember, now)

    def _remember(self, now: float) -> None:
        """Once the answer is on its way."""
        remember(self.endpoint, self.ask, self._runs, self._winner, hedged=self._hedged, now=now)
