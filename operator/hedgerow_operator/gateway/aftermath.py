"""What a request that is over leaves behind: counts, what was learned of each provider, and who is left alone."""

from collections.abc import Sequence

from hedgerow_operator.core.hedging.learning import Attempted
from hedgerow_operator.core.hedging.seen import AttemptState
from hedgerow_operator.gateway.asked import Ask
from hedgerow_operator.gateway.counts import Went
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.run import Run

# A used-up quota, or a key that is not accepted, does not mend by itself within a request or two.
_EXHAUSTED_SECONDS = 60.0
_FIRST_CLIENTS_MISTAKE = 400


def remember(
    endpoint: Endpoint, ask: Ask, runs: Sequence[Run], winner: Run | None, *, hedged: bool, now: float
) -> None:
    """After each request, once."""
    counts = endpoint.counts
    counts.hedged += hedged
    if winner is not None and winner is not runs[0] and hedged:
        counts.hedge_wins += 1
    for run in runs:
        _of_one(endpoint, ask, run, winner, now)
    if winner is None:
        return
    affinity = endpoint.settings.affinity
    if affinity is not None and ask.session:
        endpoint.sessions.answered(ask.session, winner.provider.name, now, affinity.ttl_seconds)
    counts.latencies.add(now - runs[0].launched_at)


def notice(endpoint: Endpoint, run: Run, winner: Run | None, now: float) -> None:
    """An attempt has ended: at once, since other requests ask whether its provider is well."""
    run.told = True
    went = _went(run, winner)
    if run.unaffordable:
        endpoint.parts.protection.ended(run.provider.name, None)
        return
    endpoint.counts.of(run.provider.name).attempts[went] += 1
    _close_if_told(endpoint, run, now)
    endpoint.parts.protection.ended(run.provider.name, _well(run, went))


def _of_one(endpoint: Endpoint, ask: Ask, run: Run, winner: Run | None, now: float) -> None:
    if not run.told:
        notice(endpoint, run, winner, now)
    name, went = run.provider.name, _went(run, winner)
    mistake = run.answer is not None and run.answer.status >= _FIRST_CLIENTS_MISTAKE and went is Went.WON
    if mistake or run.unaffordable or _waits(run):
        return
    if went is Went.WON and run.ended_at is not None:
        endpoint.counts.of(name).latencies.add(run.ended_at - run.launched_at)
    endpoint.learned.learn(name, ask.stream, _attempted(run, went, now), now)


def _close_if_told(endpoint: Endpoint, run: Run, now: float) -> None:
    """Leave a provider alone for as long as it has said."""
    error = run.error
    if error is None:
        return
    if error.exhausted or error.credentials:
        endpoint.leave_alone(run.provider.name, now + (error.retry_after or _EXHAUSTED_SECONDS), waits=False)
    elif error.retry_after is not None and run.ended_at is not None:
        endpoint.leave_alone(run.provider.name, run.ended_at + error.retry_after, waits=True)


def _went(run: Run, winner: Run | None) -> Went:
    if run is winner:
        return Went.WON
    if run.state is AttemptState.INVALID:
        return Went.INVALID
    # One that was given up and then says that it was cancelled has not failed.
    failed = run.state is AttemptState.FAILED and run.given_up_at is None
    return Went.FAILED if failed else Went.CANCELLED


def _waits(run: Run) -> bool:
    return run.error is not None and run.error.safe_to_retry and run.error.retry_after is not None


def _well(run: Run, went: Went) -> bool | None:
    """Of an attempt that was given up, and of one that was asked to wait, nothing follows for the breaker."""
    if went is Went.WON:
        return True
    return None if went is Went.CANCELLED or _waits(run) else False


def _attempted(run: Run, went: Went, now: float) -> Attempted:
    ended = (run.ended_at or now) - run.launched_at
    stopped = run.given_up_at - run.launched_at if run.given_up_at is not None else ended
    return Attempted(
        started_after=None if run.started_at is None else run.started_at - run.launched_at,
        answered_after=ended if went is Went.WON else None,
        failed=went in (Went.FAILED, Went.INVALID),
        stopped_after=stopped if went is Went.CANCELLED else None,
        gap_seconds=run.gap,
    )
