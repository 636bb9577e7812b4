"""Why a request that nobody has answered is lost, and whether waiting would help."""

from collections.abc import Sequence

from hedgerow_operator.gateway.asked import LostError, WhyLost
from hedgerow_operator.gateway.run import Run

# A provider that says when to come back is waited for so long; beyond that the client is told.
MOST_WAIT_SECONDS = 30.0
_MOST_TOLD = 3


def may_come_back_at(run: Run) -> float | None:
    """When its provider may be asked again though it has failed; None: never, in this request."""
    error = run.error
    if run.forgotten or not run.over or error is None or run.ended_at is None or error.retry_after is None:
        return None
    if not error.safe_to_retry or error.exhausted or error.credentials or error.retry_after > MOST_WAIT_SECONDS:
        return None
    return run.ended_at + error.retry_after


def lost(runs: Sequence[Run], why: WhyLost, closed_seconds: float | None = None) -> LostError:
    """The error for the client; what the attempts have shown says more than that they failed."""
    made = [run for run in runs if not run.unaffordable]
    errors = [run.error for run in made if run.error is not None]
    if why is WhyLost.DEADLINE:
        told = "no valid answer came within the deadline of the request"
        return LostError(why, _with_reasons(told, made), attempts=len(made))
    if runs and not made:
        return LostError(WhyLost.NO_MONEY, "the budget of this endpoint is used up", attempts=0)
    if not runs:
        told = "every provider of this endpoint is left alone for a while because it failed or refused lately"
        return LostError(WhyLost.CLOSED, told, retry_after=closed_seconds or 1.0)
    waits = [error.retry_after for error in errors if error.retry_after is not None and not error.exhausted]
    if waits and len(errors) == len(made) and len(waits) == len(errors):
        told = "every provider refuses more requests for now"
        return LostError(WhyLost.RATE_LIMITED, _with_reasons(told, made), retry_after=min(waits), attempts=len(made))
    return LostError(WhyLost.FAILED, _with_reasons("no provider gave a valid answer", made), attempts=len(made))


def _with_reasons(told: str, runs: Sequence[Run]) -> str:
    reasons = [str(run.error) if run.error is not None else run.fault for run in runs]
    shown = list(dict.fromkeys(reason for reason in reasons if reason))[:_MOST_TOLD]
    return f"{told}: {'; '.join(shown)}" if shown else told
