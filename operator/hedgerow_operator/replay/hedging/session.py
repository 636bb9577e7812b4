"""All rounds in their order: each is decided with what the rounds before it have shown, and no more."""

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from hedgerow_operator.core.hedging.adaptive import Adaptive
from hedgerow_operator.core.hedging.cutover import Cascade, QueueCutover
from hedgerow_operator.core.hedging.decision import Policy
from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge, Race
from hedgerow_operator.core.hedging.learning import Attempted, Learning
from hedgerow_operator.core.hedging.load import LoadCap
from hedgerow_operator.core.hedging.seen import ProviderSeen
from hedgerow_operator.replay.hedging.costs import FREE_IN_QUEUE, RATES, Cost, cost_of, stop_of
from hedgerow_operator.replay.hedging.rounds import Course, Round
from hedgerow_operator.replay.hedging.simulate import Market, Outcome, Run, simulate

ORDER = ("runpod", "cerebrium", "modal")
# Cerebrium shows no queue, but the code that runs there is ours and says when it begins.
_SHOWS_START = frozenset({"runpod", "cerebrium"})


class Choice(Struct, frozen=True):
    """A policy, and how many of the providers it is given."""

    policy: Policy
    providers: int = len(ORDER)


CHOICES = {
    "adaptive": Choice(Adaptive()),
    "fixed": Choice(Fixed(), 2),
    "cutover": Choice(QueueCutover(), 2),
    "cascade": Choice(Cascade()),
    "race": Choice(Race()),
    "none": Choice(NoHedge(), 1),
}


class Decided(Struct, frozen=True, kw_only=True):
    """One round, how it went, and what it cost."""

    round: Round
    outcome: Outcome
    cost: Cost


class HedgingReplay:
    """cancel_lag: seconds until a loser has really stopped. max_extra_load: attempts beyond the first, as a share.

    rates: US dollars a second, by provider.
    """

    def __init__(
        self,
        choice: Choice,
        *,
        cancel_lag: float = 0.0,
        max_live: int = 3,
        max_extra_load: float = 1.0,
        rates: Mapping[str, float] = RATES,
    ) -> None:
        self._policy = choice.policy
        self._names: Sequence[str] = ORDER[: choice.providers]
        self._lag, self._rates = cancel_lag, rates
        self._market = Market(max_live=max_live)
        self._load = LoadCap(max_extra_load)
        self._learning = {name: Learning() for name in self._names}
        self._last: dict[str, float] = {}

    def all(self, rounds: Iterable[Round]) -> list[Decided]:
        """Every round in its order."""
        return [self.next(one) for one in rounds]

    def next(self, one: Round) -> Decided:
        """The next round."""
        self._load.request()
        outcome = simulate(self._policy, self._providers(one), one.courses, self._market, self._load)
        for run in outcome.runs:
            gap = self._gap(run.provider, one)
            seen = attempted(run, one.courses[run.provider], outcome, gap)
            self._learning[run.provider].learn(seen, one.began_at)
        self._last.update((run.provider, one.began_at) for run in outcome.runs)
        return Decided(round=one, outcome=outcome, cost=cost_of(outcome, one.courses, self._lag, self._rates))

    def _providers(self, one: Round) -> tuple[ProviderSeen, ...]:
        return tuple(
            ProviderSeen(
                name=name,
                pace=self._learning[name].pace(one.began_at, self._gap(name, one)),
                shows_start=name in _SHOWS_START,
                free_in_queue=name in FREE_IN_QUEUE,
            )
            for name in self._names
        )

    def _gap(self, name: str, one: Round) -> float:
        return one.began_at - self._last.get(name, one.began_at)


def attempted(run: Run, course: Course, outcome: Outcome, gap: float) -> Attempted:
    """What one attempt has shown until the request was over."""
    ran = stop_of(run, course, outcome.latency_seconds, 0.0) - run.launched_at
    answered = ran >= course.answer_seconds
    began = course.queue_seconds is not None and ran >= course.queue_seconds and not course.refused
    return Attempted(
        started_after=course.queue_seconds if began else None,
        answered_after=course.answer_seconds if answered and course.valid else None,
        failed=course.refused or (answered and not course.valid),
        stopped_after=None if answered or math.isinf(ran) else ran,
        gap_seconds=gap,
    )
