"""The default policy: each provider is given the time that it usually needs when it is well, and no more.

An attempt whose worker has not begun by then gets a second beside it, at once where the first will most likely be
cold; the first keeps its place in the queue, which costs nothing, for a while: it may still be quicker. What one
attempt shows is the signal for the next: a backup that does not begin in its own time is backed up too. A provider
whose late attempts have mostly answered before another would have is waited for as long as these have needed to begin.
"""

from msgspec import Struct

from hedgerow_operator.core.hedging.decision import Decision, first
from hedgerow_operator.core.hedging.seen import AttemptSeen, ProviderSeen, Situation

# The first backup is cheap to be wrong about, the ones after it are not.
_FIRST_MARGIN = 1.05
_LATER_MARGIN = 1.25
_UNKNOWN_LATER_MARGIN = 1.5
# Beside another attempt one may be queued so many times as long as the slowest that are well: it may still be quicker.
_QUEUED_MARGIN = 3.0
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
        times = [*self._ends(situation), *([max(due)] if due else [])]
        return Decision(again_at=min(times, default=None))

    def _next(self, situation: Situation) -> tuple[str, ...]:
        """The next provider: those that were well lately before the others."""
        if len(situation.live) >= situation.max_live or not situation.may_hedge:
            return ()
        return tuple(provider.name for provider in self._ranked(situation)[:1])

    def _ranked(self, situation: Situation) -> list[ProviderSeen]:
        return sorted(situation.untried, key=lambda provider: provider.pace.late >= _SICK)

    def _due(self, attempt: AttemptSeen, situation: Situation) -> float:
        """Until when this attempt is waited for, before there is one more."""
        provider, later = situation.provider(attempt.provider), attempt is not situation.attempts[0]
        if provider.shows_start and attempt.started_at is None:
            return attempt.launched_at + self._start(provider, later, situation)
        usual, late = self._answer(provider, later), provider.pace.late_answer_seconds
        if late is not None and _began_late(attempt, provider) and self._is_quicker_late(provider, usual, situation):
            return attempt.launched_at + max(usual, late * _LATER_MARGIN)
        return attempt.launched_at + usual

    def _start(self, provider: ProviderSeen, later: bool, situation: Situation) -> float:
        """How long it may take to begin: as long as when it is well, or longer where that is quicker than another."""
        usual, pace = self._usual_start(provider, later), provider.pace
        if pace.late_start_seconds is None or not self._is_quicker_late(provider, usual, situation):
            return usual
        return max(usual, pace.late_start_seconds * _FIRST_MARGIN)

    def _is_quicker_late(self, provider: ProviderSeen, usual: float, situation: Situation) -> bool:
        late, others = provider.pace.late_answer_seconds, self._ranked(situation)
        other = others[0].pace.answer_seconds if others else None
        return late is not None and (other is None or late <= usual + other)

    def _usual_start(self, provider: ProviderSeen, later: bool) -> float:
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
        if self._comes_first(attempt, others, situation):
            return False
        if provider.free_in_queue:
            late = situation.now >= self._queued_until(attempt, situation)
            return late and (len(others) > 1 or any(other.started_at is not None for other in others))
        return any(self._began_in_time(other, situation) for other in others)

    def _ends(self, situation: Situation) -> list[float]:
        """When one of several that are queued may have to be given up."""
        waiting = [attempt for attempt in situation.live if attempt.started_at is None and len(situation.live) > 1]
        return [at for attempt in waiting if (at := self._queued_until(attempt, situation)) > situation.now]

    def _queued_until(self, attempt: AttemptSeen, situation: Situation) -> float:
        """Until when it may be queued beside another, which costs nothing."""
        provider = situation.provider(attempt.provider)
        limit = provider.pace.start_limit
        longest = self._usual_start(provider, later=False) if limit is None else limit * _QUEUED_MARGIN
        return attempt.launched_at + longest

    def _comes_first(self, attempt: AttemptSeen, others: list[AttemptSeen], situation: Situation) -> bool:
        """Whether it will most likely answer before each of the others, late as it is."""
        late = situation.provider(attempt.provider).pace.late_answer_seconds
        if late is None:
            return False
        answers = [(other.launched_at, situation.provider(other.provider).pace.answer_seconds) for other in others]
        return all(seconds is not None and attempt.launched_at + late <= at + seconds for at, seconds in answers)

    def _began_in_time(self, attempt: AttemptSeen, situation: Situation) -> bool:
        limit = situation.provider(attempt.provider).pace.start_limit
        if attempt.started_at is None or limit is None or not situation.provider(attempt.provider).free_in_queue:
            return False
        return attempt.started_at - attempt.launched_at <= limit and situation.now < attempt.launched_at + limit


def _began_late(attempt: AttemptSeen, provider: ProviderSeen) -> bool:
    limit = provider.pace.start_limit
    return attempt.started_at is not None and limit is not None and attempt.started_at - attempt.launched_at > limit
