"""The default policy: each provider is given the time that it usually needs when it is well, and no more.

An attempt whose worker has not begun by then gets a second beside it, at once where the first will most likely be
cold; the first keeps its place in the queue, which costs nothing, until another one's worker has begun. What one
attempt shows is the signal for the next: a backup that does not begin in its own time is backed up too.
"""

from msgspec import Struct

from hedgerow_operator.core.hedging.decision import Decision, first
from hedgerow_operator.core.hedging.seen import AttemptSeen, ProviderSeen, Situation

# The first backup is cheap to be wrong about, the ones after it are not.
_FIRST_MARGIN = 1.05
_LATER_MARGIN = 1.25
_UNKNOWN_LATER_MARGIN = 1.5
# The share of late attempts from which on a provider is tried last.
_SICK = 0.5


class Adaptive(Struct, frozen=True):
    """The times are what counts until a provider has shown its own, in seconds since the launch of an attempt."""

    cutover_seconds: float = 2.5
    safety_seconds: float = 8.5
    escalate_seconds: float = 25.0

    def decide(self, situation: Situation) -> Decision:
        """See Policy."""
        begin = first(situation)
        if begin is not None:
            return begin
        cancel = tuple(attempt.provider for attempt in situation.live if self._is_given_up(attempt, situation))
        if cancel:
            return Decision(cancel=cancel)
        due = [self._due(attempt, situation) for attempt in situation.live]
        if not due or situation.now >= max(due):
            launch = self._next(situation)
            if launch:
                return Decision(launch=launch)
            due = [at for at in due if at > situation.now]
        return Decision(again_at=max(due, default=None))

    def _next(self, situation: Situation) -> tuple[str, ...]:
        """The next provider: those that were well lately before the others."""
        if len(situation.live) >= situation.max_live or not situation.may_hedge:
            return ()
        ranked = sorted(situation.untried, key=lambda provider: provider.pace.late >= _SICK)
        return tuple(provider.name for provider in ranked[:1])

    def _due(self, attempt: AttemptSeen, situation: Situation) -> float:
        """Until when this attempt is waited for, before there is one more."""
        provider, later = situation.provider(attempt.provider), attempt is not situation.attempts[0]
        if provider.shows_start and attempt.started_at is None:
            return attempt.launched_at + self._start(provider, later)
        return attempt.launched_at + self._answer(provider, later)

    def _start(self, provider: ProviderSeen, later: bool) -> float:
        if provider.pace.cold and not later:
            return 0.0
        if provider.pace.start_seconds is None:
            return self.cutover_seconds * (_UNKNOWN_LATER_MARGIN if later else 1.0)
        return provider.pace.start_seconds * (_LATER_MARGIN if later else _FIRST_MARGIN)

    def _answer(self, provider: ProviderSeen, later: bool) -> float:
        if provider.pace.answer_seconds is None:
            return self.safety_seconds if not later else self.escalate_seconds
        return provider.pace.answer_seconds * _LATER_MARGIN

    def _is_given_up(self, attempt: AttemptSeen, situation: Situation) -> bool:
        """Queued too long while another has begun or two are there, or not begun when the first begins in time."""
        others = [other for other in situation.live if other is not attempt]
        provider = situation.provider(attempt.provider)
        if not others or attempt.started_at is not None or not provider.shows_start:
            return False
        if provider.free_in_queue:
            late = situation.now >= attempt.launched_at + self._start(provider, later=False)
            return late and (len(others) > 1 or any(other.started_at is not None for other in others))
        return any(self._began_in_time(other, situation) for other in others)

    def _began_in_time(self, attempt: AttemptSeen, situation: Situation) -> bool:
        limit = situation.provider(attempt.provider).pace.start_limit
        if attempt.started_at is None or limit is None or not situation.provider(attempt.provider).free_in_queue:
            return False
        return attempt.started_at - attempt.launched_at <= limit and situation.now < attempt.launched_at + limit
