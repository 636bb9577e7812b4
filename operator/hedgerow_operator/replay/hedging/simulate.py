"""One recorded round under a policy, moment by moment: the policy sees what the providers would show at that time."""

import math
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hedgerow_operator.core.hedging.decision import Decision, Policy
from hedgerow_operator.core.hedging.load import LoadCap
from hedgerow_operator.core.hedging.seen import AttemptSeen, AttemptState, ProviderSeen, Situation
from hedgerow_operator.replay.hedging.rounds import Course

# A policy that asks for something at every look would never end.
_MOST_LOOKS = 1000


class Run(Struct, frozen=True, kw_only=True):
    """One attempt as it was, in seconds since the request began. given_up_at: when the policy cancelled it."""

    provider: str
    launched_at: float
    given_up_at: float = math.inf


class Outcome(Struct, frozen=True, kw_only=True):
    """latency_seconds: infinite when no valid answer came. winner: empty then."""

    latency_seconds: float
    winner: str
    runs: tuple[Run, ...]


class Market(Struct, frozen=True, kw_only=True):
    """What holds for all rounds of a replay. shows_queue: providers that say that an attempt waits."""

    shows_queue: frozenset[str] = frozenset({"runpod"})
    max_live: int = 3



def simulate(
    policy: Policy,
    providers: tuple[ProviderSeen, ...],
    courses: Mapping[str, Course],
    market: Market,
    load: LoadCap,
) -> Outcome:
    """The outcome of one request. load: whether one more attempt is allowed; it is told of each."""
    runs: list[Run] = []
    now = 0.0
    for _look in range(_MOST_LOOKS):
        winner = _winner(runs, courses, now)
        if winner is not None:
            return Outcome(latency_seconds=now, winner=winner, runs=tuple(runs))
        seen = tuple(_seen(run, courses[run.provider], market, now) for run in runs)
        decision = policy.decide(
            Situation(
                now=now,
                providers=providers,
                attempts=seen,
                max_live=market.max_live,
                may_hedge=load.allows() or not runs,
            )
        )
        if decision.launch or decision.cancel:
            _count(runs, seen, decision, load)
            runs = _done(runs, decision, now)
            continue
        now = min(_next_change(runs, courses, now), _again(decision, now))
        if math.isinf(now):
            break
    return Outcome(latency_seconds=math.inf, winner="", runs=tuple(runs))


def _count(runs: list[Run], seen: tuple[AttemptSeen, ...], decision: Decision, load: LoadCap) -> None:
    for attempt in seen:
        if attempt.provider in decision.cancel and attempt.state is AttemptState.QUEUED:
            load.give_back()
    for _extra in decision.launch if runs else decision.launch[1:]:
        load.take()


def _winner(runs: list[Run], courses: Mapping[str, Course], now: float) -> str | None:
    for run in runs:
        end = run.launched_at + courses[run.provider].answer_seconds
        if courses[run.provider].valid and end <= now and end <= run.given_up_at:
            return run.provider
    return None


def _seen(run: Run, course: Course, market: Market, now: float) -> AttemptSeen:
    age = now - run.launched_at
    started = None
    if course.queue_seconds is not None and age >= course.queue_seconds:
        started = run.launched_at + course.queue_seconds
    state = AttemptState.UNKNOWN
    if run.given_up_at <= now:
        state = AttemptState.CANCELLED
    elif course.refused:
        state = AttemptState.FAILED
    elif age >= course.answer_seconds:
        state = AttemptState.VALID if course.valid else AttemptState.INVALID
    elif run.provider in market.shows_queue:
        state = AttemptState.RUNNING if started is not None else AttemptState.QUEUED
    return AttemptSeen(provider=run.provider, launched_at=run.launched_at, state=state, started_at=started)


def _done(runs: list[Run], decision: Decision, now: float) -> list[Run]:
    stopped = decision.cancel
    kept = [replace(run, given_up_at=min(run.given_up_at, now)) if run.provider in stopped else run for run in runs]
    return kept + [Run(provider=name, launched_at=now) for name in decision.launch]


def _next_change(runs: list[Run], courses: Mapping[str, Course], now: float) -> float:
    """When the next attempt begins or ends, as far as that shows."""
    times = [math.inf]
    for run in runs:
        course = courses[run.provider]
        if run.given_up_at <= now:
            continue
        times.append(run.launched_at + course.answer_seconds)
        if course.queue_seconds is not None:
            times.append(run.launched_at + course.queue_seconds)
    return min(time for time in times if time > now)


def _again(decision: Decision, now: float) -> float:
    return math.inf if decision.again_at is None or decision.again_at <= now else decision.again_at
