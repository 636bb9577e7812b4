"""One attempt of a request, from its reservation to its end."""

import asyncio
import logging
from typing import Protocol

from hedgerow_operator.adapters.providers.contract import Answer, Attempt, Provider, ProviderError, Update
from hedgerow_operator.core.hedging.seen import AttemptSeen, AttemptState
from hedgerow_operator.gateway.asked import Accepted, Ask
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.ports import Ended, Ending, Launch, Loser, Reservation

_log = logging.getLogger(__name__)
_SHOWN = (AttemptState.QUEUED, AttemptState.RUNNING, AttemptState.UNKNOWN)
# The client's own mistake is an answer, whatever else the endpoint expects of one.
_CLIENTS_MISTAKES = range(400, 500)
_NOT_THERE = 404


class Round(Protocol):
    """What an attempt knows of its race."""

    endpoint: Endpoint
    ask: Ask
    over: bool

    def wins(self, run: "Run") -> bool:
        """It has a valid answer; whether it is the first."""

    def changed(self) -> None:
        """Look again."""


class Run:
    """launched_at, started_at, ended_at, given_up_at: by the loop's clock; None: not yet. over: no more comes of it.
    forgotten: its provider may be tried anew, as if it had not been. told: its end has been taken notice of.
    """

    def __init__(self, race: Round, provider: Provider, now: float, first: bool, gap: float) -> None:
        self.provider, self.launched_at, self.first, self.gap = provider, now, first, gap
        self.state = AttemptState.UNKNOWN
        self.started_at: float | None = None
        self.given_up_at: float | None = None
        self.ended_at: float | None = None
        self.error: ProviderError | None = None
        self.fault = ""
        self.answer: Answer | None = None
        self.over = self.forgotten = self.unaffordable = self.told = False
        self._race, self._why = race, ""
        self._attempt: Attempt | None = None
        self._reservation: Reservation | None = None
        self._done_with = False
        self._task: asyncio.Task[None] | None = None

    @property
    def live(self) -> bool:
        """It may answer, and nobody has given it up."""
        return not self.over and self.given_up_at is None

    def start(self) -> asyncio.Task[None]:
        """Begin; the task ends when nothing more will come of it."""
        self._task = asyncio.get_running_loop().create_task(self._go())
        return self._task

    def seen(self, began: float, any_live: bool) -> AttemptSeen:
        """As a policy sees it, with times since the request ``began``. Given up and still silent is as good as failed
        where nothing else lives.
        """
        state = self.state
        if self.given_up_at is not None and state not in (AttemptState.FAILED, AttemptState.INVALID):
            state = AttemptState.CANCELLED if any_live and not self.over else AttemptState.FAILED
        return AttemptSeen(
            provider=self.provider.name,
            launched_at=self.launched_at - began,
            state=state,
            started_at=None if self.started_at is None else self.started_at - began,
        )

    def give_up(self, why: str, now: float) -> None:
        """Ask for its end; what it still answers counts while the race goes on."""
        if self.given_up_at is None:
            self.given_up_at, self._why = now, why
        self._hand_over()

    def drop(self, why: str, now: float) -> None:
        """The race is over: nothing of it counts any more."""
        if not self.over:
            self.give_up(why, now)
        if self._task is not None and (self._attempt is not None or self.over):
            self._task.cancel()
        # Else it is being submitted: its task goes on until there is a name by which to end it.

    def finish(self, now: float) -> None:
        """Its answer has been passed on to its end."""
        self._settle(Ending.WON, now)

    def abandon(self, why: str, now: float) -> None:
        """Its answer will not be passed on any further."""
        self._why = why
        self._hand_over(now)

    async def _go(self) -> None:
        try:
            if await self._launch():
                await self._watch()
        except ProviderError as error:
            self._failed(error, None)
        except Exception:  # noqa: BLE001 - whatever an adapter does, the others go on
            _log.exception("an attempt at %s broke off", self.provider.name)
            self._failed(ProviderError(f"{self.provider.name} could not be asked; see the gateway's log"), None)
        finally:
            self.over = True
            if self.ended_at is None:
                self.ended_at = self._now()
            self._race.changed()

    async def _launch(self) -> bool:
        race, left = self._race, max(0.0, self._race.ask.deadline - self._now())
        parts, name = race.endpoint.parts, self.provider.name
        wish = Launch(request_id=race.ask.request_id, provider=self.provider, first=self.first, worst_seconds=left)
        self._reservation = await parts.money.reserve(wish)
        if self._reservation is None:
            self.unaffordable, self.state = True, AttemptState.FAILED
            return False
        if race.over:
            self._settle(Ending.REFUSED, self._now())
            return False
        call = race.ask.call(race.endpoint.uses[name], left)
        self._attempt = await self.provider.submit(call)
        self._reservation.taken(self._attempt.job_id)
        if self.given_up_at is not None:
            self._hand_over()
        return not race.over

    async def _watch(self) -> None:
        assert self._attempt is not None
        async for update in self._attempt.updates():
            if update.state is AttemptState.RUNNING:
                self._began()
            if update.state is AttemptState.FAILED:
                self._failed(update.error or ProviderError(f"{self.provider.name} says that it has failed"), update)
                return
            if update.state is AttemptState.VALID and update.answer is not None:
                scrubber = self._race.endpoint.parts.scrubbers.get(self.provider.name)
                await self._judge(scrubber.answer(update.answer) if scrubber is not None else update.answer)
                return
            if update.state in _SHOWN and update.state is not self.state:
                self.state = update.state
                if self.given_up_at is None:
                    self._race.changed()
        if self.state in _SHOWN:
            self._failed(ProviderError(f"{self.provider.name} ended without an answer"), None)

    def _began(self) -> None:
        if self.started_at is None:
            self.started_at = self._now()

    async def _judge(self, answer: Answer) -> None:
        """Whether its answer is the one."""
        race, self.answer = self._race, answer
        if answer.status in _CLIENTS_MISTAKES and answer.status != _NOT_THERE:
            accepted = Accepted(answer)
        elif answer.status >= 400:
            accepted = Accepted(answer, f"{self.provider.name} answered with status {answer.status}")
        else:
            accepted = await race.ask.accept(race.endpoint.uses[self.provider.name], answer)
        self.answer, self.fault = accepted.answer, accepted.fault
        now = self.ended_at = self._now()
        if accepted.fault:
            self.state = AttemptState.INVALID
            if answer.chunks is None:
                self._settle(Ending.INVALID, now)
            else:
                self.abandon("what it streams is not valid", now)
        elif race.wins(self):
            self.state = AttemptState.VALID

    def _failed(self, error: ProviderError, update: Update | None) -> None:
        self.state, self.error = AttemptState.FAILED, error
        if error.safe_to_retry or self._attempt is None or (update is not None and update.answer is not None):
            self._settle(Ending.REFUSED if error.safe_to_retry else Ending.LOST, self._now())
        else:
            self._why = self._why or "it failed, and may run on"
            self._hand_over()

    def _settle(self, ending: Ending, now: float) -> None:
        if self._reservation is None or self._done_with:
            return
        self._done_with = True
        answer = self.answer
        self._reservation.settle(
            Ended(
                ending=ending,
                seconds=now - self.launched_at,
                execution_seconds=answer.execution_seconds if answer is not None else None,
                cost=answer.cost if answer is not None else None,
            )
        )

    def _hand_over(self, now: float | None = None) -> None:
        if self._attempt is None or self._reservation is None or self._done_with:
            return
        self._done_with = True
        loser = Loser(
            request_id=self._race.ask.request_id,
            provider=self.provider,
            attempt=self._attempt,
            reservation=self._reservation,
            ran_seconds=(self._now() if now is None else now) - self.launched_at,
            why=self._why,
        )
        self._race.endpoint.parts.losers.give(loser)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
