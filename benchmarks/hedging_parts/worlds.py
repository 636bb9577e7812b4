"""What is played: courses of events that a seed draws, and how one attempt at a provider goes."""

import math
import random
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from hedgerow_operator.replay.hedging.costs import RATES
from hedgerow_operator.replay.hedging.rounds import Course, Round

ROUNDS = 400
# What an answer counts that never came, in seconds.
NEVER = 600.0


class World(Struct, frozen=True, kw_only=True):
    """rounds: one course of events for each seed. rates: US dollars a second, by provider."""

    name: str
    rounds: Callable[[int], Iterator[Round]]
    rates: Mapping[str, float] = field(default_factory=lambda: RATES)


class Shape(Struct, frozen=True, kw_only=True):
    """Times of one provider: medians in seconds, spreads as the standard deviation of their logarithm.

    slow: share of attempts that are in its slow mode; slow_queue, slow_work: how many times as long these take. fails:
    share that ends by an answer that is none. shows: whether anybody tells when its worker begins.
    """

    queue: float
    work: float
    queue_spread: float = 0.1
    work_spread: float = 0.1
    slow: float = 0.0
    slow_queue: float = 10.0
    slow_work: float = 1.0
    fails: float = 0.0
    shows: bool = True

    def draw(self, chance: random.Random, load: float = 1.0) -> Course:
        """One attempt. load: how many times as long it is queued."""
        is_slow, fails = chance.random() < self.slow, chance.random() < self.fails
        queue = load * self.queue * math.exp(chance.gauss(0.0, self.queue_spread)) * (self.slow_queue if is_slow else 1)
        work = self.work * math.exp(chance.gauss(0.0, self.work_spread)) * (self.slow_work if is_slow else 1)
        if not self.shows:
            return Course(answer_seconds=queue + work, valid=not fails)
        return Course(answer_seconds=queue + work, valid=not fails, queue_seconds=queue, execution_seconds=work)
