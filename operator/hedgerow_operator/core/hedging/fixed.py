"""Policies that need to know nothing: one attempt, all at once, or a second after a fixed time."""

from msgspec import Struct

from hedgerow_operator.core.hedging.decision import NOTHING, Decision, all_in_vain, first, next_provider
from hedgerow_operator.core.hedging.seen import Situation


class NoHedge(Struct, frozen=True):
    """One attempt; another provider only after it has failed."""

    def decide(self, situation: Situation) -> Decision:
        """See Policy."""
        begin = first(situation)
        if begin is not None:
            return begin
        return Decision(launch=next_provider(situation)) if all_in_vain(situation) else NOTHING


class Race(Struct, frozen=True):
    """Every provider at once, as far as ``max_live`` allows."""

    def decide(self, situation: Situation) -> Decision:
        """See Policy."""
        room = situation.max_live - len(situation.live) if situation.may_hedge or not situation.attempts else 0
        return Decision(launch=tuple(provider.name for provider in situation.untried[: max(0, room)]))


class Fixed(Struct, frozen=True):
    """A second attempt ``after_seconds`` after the first, or as soon as that has failed."""

    after_seconds: float = 10.0

    def decide(self, situation: Situation) -> Decision:
        """See Policy."""
        begin = first(situation)
        if begin is not None:
            return begin
        if len(situation.attempts) == 1 and situation.now < self.after_seconds and not all_in_vain(situation):
            return Decision(again_at=self.after_seconds)
        if len(situation.attempts) == 1 or all_in_vain(situation):
            return Decision(launch=next_provider(situation))
        return NOTHING
