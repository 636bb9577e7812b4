"""Policies that look at the first attempt's queue once, as GPUHedge's StateAwarePolicy and CascadePolicy do."""

from msgspec import Struct

from hedgerow_operator.core.hedging.decision import NOTHING, Decision, all_in_vain, first, next_provider
from hedgerow_operator.core.hedging.seen import AttemptState, Situation


class QueueCutover(Struct, frozen=True):
    """Queued still at ``cutover_seconds``: given up for the next provider. No answer at ``safety_seconds``: both."""

    cutover_seconds: float = 2.5
    safety_seconds: float = 8.5

    def decide(self, situation: Situation) -> Decision:
        """See Policy."""
        begin = first(situation)
        if begin is not None:
            return begin
        if len(situation.attempts) > 1 and not all_in_vain(situation):
            return NOTHING
        return self._second(situation)

    def _second(self, situation: Situation) -> Decision:
        primary, now = situation.attempts[0], situation.now
        if all_in_vain(situation):
            return Decision(launch=next_provider(situation))
        if now == self.cutover_seconds and primary.state is AttemptState.QUEUED:
            if not situation.untried:
                return NOTHING
            return Decision(cancel=(primary.provider,), launch=(situation.untried[0].name,))
        if now >= self.safety_seconds:
            return Decision(launch=next_provider(situation))
        return Decision(again_at=self.cutover_seconds if now < self.cutover_seconds else self.safety_seconds)


class Cascade(Struct, frozen=True):
    """QueueCutover, and a third attempt at ``escalate_seconds`` where fewer than two live, or when all have failed."""

    cutover_seconds: float = 2.5
    safety_seconds: float = 8.5
    escalate_seconds: float = 25.0
    most_live: int = 2

    def decide(self, situation: Situation) -> Decision:
        """See Policy."""
        if len(situation.attempts) < 2 or all_in_vain(situation):
            return QueueCutover(self.cutover_seconds, self.safety_seconds).decide(situation)
        if situation.now < self.escalate_seconds:
            return Decision(again_at=self.escalate_seconds)
        if len(situation.attempts) == 2 and len(situation.live) < self.most_live:
            return Decision(launch=next_provider(situation))
        return NOTHING
