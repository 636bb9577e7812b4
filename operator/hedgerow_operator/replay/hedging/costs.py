"""What a round costs, by three models of which attempts are paid for and how long."""

from collections.abc import Mapping
from statistics import fmean

from msgspec import Struct

from hedgerow_operator.replay.hedging.rounds import Course
from hedgerow_operator.replay.hedging.simulate import Outcome, Run

# US dollars a second: RunPod RTX 4090, Modal L40S, Cerebrium L40S, as GPUHedge's ledger of 2026-07 has them.
RATES: Mapping[str, float] = {"runpod": 0.000306, "modal": 0.000704, "cerebrium": 0.000736}
# Idle window that is billed after a worker has begun.
IDLE_SECONDS: Mapping[str, float] = {"runpod": 60.0}
# A queued job that is cancelled costs nothing there.
FREE_IN_QUEUE = frozenset({"runpod"})


class Cost(Struct, frozen=True, kw_only=True):
    """active: time at the client; billed: with the idle window; execution: as the provider counts. US dollars."""

    active: float
    billed: float
    execution: float


def stop_of(run: Run, course: Course, latency: float, lag: float) -> float:
    """When it ended: by itself, given up, or as a loser ``lag`` seconds after the answer."""
    return min(run.launched_at + course.answer_seconds, run.given_up_at, latency + lag)


def cost_of(outcome: Outcome, courses: Mapping[str, Course], lag: float, rates: Mapping[str, float] = RATES) -> Cost:
    """Of one round. lag: seconds from the answer until a loser has really stopped. rates: US dollars a second."""
    parts = [_cost_of_run(run, courses[run.provider], outcome, lag, rates) for run in outcome.runs]
    return Cost(
        active=sum(part.active for part in parts),
        billed=sum(part.billed for part in parts),
        execution=sum(part.execution for part in parts),
    )


def mean_cost(costs: list[Cost]) -> Cost:
    """Of one round on average."""
    return Cost(
        active=fmean(cost.active for cost in costs),
        billed=fmean(cost.billed for cost in costs),
        execution=fmean(cost.execution for cost in costs),
    )


def _cost_of_run(run: Run, course: Course, outcome: Outcome, lag: float, rates: Mapping[str, float]) -> Cost:
    late = 0.0 if run.provider == outcome.winner else lag
    ran = stop_of(run, course, outcome.latency_seconds, late) - run.launched_at
    queue = course.queue_seconds or 0.0
    began = ran > queue
    if course.refused or (run.provider in FREE_IN_QUEUE and not began):
        return Cost(active=0.0, billed=0.0, execution=0.0)
    rate = rates.get(run.provider, 0.0)
    executed = max(0.0, ran - queue)
    if course.execution_seconds is not None:
        executed = min(executed, course.execution_seconds)
    return Cost(
        active=rate * ran,
        billed=rate * (ran + IDLE_SECONDS.get(run.provider, 0.0)),
        execution=rate * executed,
    )
