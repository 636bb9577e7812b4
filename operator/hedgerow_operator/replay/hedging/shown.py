"""What `hedgerow replay hedging` prints."""

import math
from collections.abc import Sequence
from typing import Any

from hedgerow_operator.replay.hedging.costs import mean_cost, stop_of
from hedgerow_operator.replay.hedging.rounds import Course
from hedgerow_operator.replay.hedging.session import Decided
from hedgerow_operator.replay.hedging.simulate import Run

MISS_SECONDS = 60.0


def quantile(values: Sequence[float], share: float) -> float:
    """Nearest rank, as GPUHedge counts: the sorted values at round(share · (n - 1))."""
    return sorted(values)[round(share * (len(values) - 1))]


def as_object(decided: Sequence[Decided]) -> dict[str, Any]:
    """The object that ``-o json`` prints; costs are means in US dollars a round, what never came is null."""
    latencies = [one.outcome.latency_seconds for one in decided]
    cost = mean_cost([one.cost for one in decided])
    return {
        "rounds": len(decided),
        "p50": _finite(quantile(latencies, 0.5)),
        "p95": _finite(quantile(latencies, 0.95)),
        "max": _finite(max(latencies)),
        "misses": sum(latency > MISS_SECONDS for latency in latencies),
        "costActive": cost.active,
        "costBilled": cost.billed,
        "costExecution": cost.execution,
        "launched": sum(len(one.outcome.runs) > 1 for one in decided),
        "perRound": [_round(one) for one in decided],
    }


def lines_of(decided: Sequence[Decided]) -> list[str]:
    """For people: the figures, and the rounds that got more than one attempt."""
    shown = as_object(decided)
    lines = [
        f"{shown['rounds']} rounds: p50 {_seconds(shown['p50'])}, p95 {_seconds(shown['p95'])}, "
        f"max {_seconds(shown['max'])}, {shown['misses']} later than {MISS_SECONDS:.0f} s",
        f"mean cost of a round: ${shown['costActive']:.4f} active, ${shown['costBilled']:.4f} billed, "
        f"${shown['costExecution']:.4f} of execution",
        f"more than one attempt in {shown['launched']} rounds:",
    ]
    return lines + [_line(one) for one in shown["perRound"] if len(one["attempts"]) > 1]


def _round(one: Decided) -> dict[str, Any]:
    latency, courses = one.outcome.latency_seconds, one.round.courses
    return {
        "round": one.round.number,
        "latencySeconds": _finite(latency),
        "winner": one.outcome.winner or None,
        "attempts": [
            {
                "provider": run.provider,
                "startSeconds": run.launched_at,
                "stopSeconds": _finite(_stop(run, courses[run.provider], latency)),
            }
            for run in one.outcome.runs
        ],
        "costActive": one.cost.active,
    }


def _stop(run: Run, course: Course, latency: float) -> float:
    """One that was refused never ran, as its cost says too."""
    return run.launched_at if course.refused else stop_of(run, course, latency, 0.0)


def _line(shown: dict[str, Any]) -> str:
    attempts = ", ".join(
        f"{one['provider']} {one['startSeconds']:.1f} to {_seconds(one['stopSeconds'])}" for one in shown["attempts"]
    )
    answered = f"{_seconds(shown['latencySeconds'])} by {shown['winner'] or 'nobody'}"
    return f"  round {shown['round']}: {answered} ({attempts})"


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


def _seconds(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.1f} s"
