"""How soon a hang is found, and how often a healthy job is suspected: the decisions over simulated months.

Time is simulated, the decisions are the real ones. Each trace is a job of four ranks with its own pace and habits
(jitter, saving, evaluation, pauses); its ranks show no work while nothing progresses, the hardest case, unless the
trace says so. In each, rank 2 hangs at last and the other three wait for it.
"""

import argparse
import json
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from hedgerow.durations import Histogram, add
from hedgerow.wire import RANK_RUNNING, Activity, RankReport
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.deadlines import deadlines
from hedgerow_operator.core.gang import Gang, RankView
from hedgerow_operator.core.patience import remaining, restart_cost
from hedgerow_operator.core.verdict import Kind, Verdict, judge

RANKS = 4
HEALTH = HealthSpec()
LOOK_SECONDS = 0.5  # the launcher samples its ranks twice a second
START_SECONDS = 60.0
SAVE_EVERY, EVALUATE_EVERY, PAUSE_EVERY = 200, 1000, 1000  # steps
DAY = 86400.0


@dataclass(frozen=True)
class Trace:
    """Steps of ``seconds`` (median) with log-normal ``jitter``; pauses come in the middle of a step."""

    name: str
    seconds: float
    jitter: float
    pause_seconds: float = 0.0
    pause_works: bool = False  # the ranks compute or move bytes meanwhile
    pause_rank: int | None = None  # it alone pauses, and the others wait for it in the next step


TRACES = (
    Trace("steps_of_half_a_second", 0.5, 0.05),
    Trace("steps_of_10_seconds", 10.0, 0.1),
    Trace("steps_of_10_seconds_that_vary", 10.0, 0.4),
    Trace("steps_of_a_minute", 60.0, 0.1),
    Trace("working_pause_of_45_seconds", 1.0, 0.1, pause_seconds=45.0, pause_works=True),
    Trace("silent_pause_of_45_seconds", 1.0, 0.1, pause_seconds=45.0),
    Trace("silent_pause_of_one_rank", 1.0, 0.1, pause_seconds=45.0, pause_rank=0),
)


@dataclass(frozen=True)
class Interval:
    """Time between two boundaries; works: the ranks show it; behind: the one that the others wait for."""

    phase: str
    seconds: float
    works: bool = True
    behind: int | None = None


@dataclass
class Outcome:
    """Counts over one trace; latency: seconds from the hang to the verdict, to_action: to the end of the patience."""

    intervals: int = 0
    job_seconds: float = 0.0
    incidents: int = 0
    restarts: int = 0
    latency: float = 0.0
    to_action: float = 0.0


def intervals(trace: Trace, count: int, chance: random.Random) -> Iterator[Interval]:
    """Each interval of the healthy part, start-up first."""
    yield Interval("init", START_SECONDS * chance.lognormvariate(0, 0.2))
    yield Interval("first-step", trace.seconds * 5)
    for step in range(1, count):
        seconds = trace.seconds * chance.lognormvariate(0, trace.jitter)
        if trace.pause_seconds and step % PAUSE_EVERY == 0:
            yield Interval("step", seconds + trace.pause_seconds, trace.pause_works, trace.pause_rank)
        else:
            yield Interval("step", seconds, works=False)
        if step % SAVE_EVERY == 0:
            yield Interval("checkpoint", trace.seconds * 3 * chance.lognormvariate(0, 0.3))
        if step % EVALUATE_EVERY == 0:
            yield Interval("eval", trace.seconds * 40 * chance.lognormvariate(0, 0.2))


def gang(phase: str, age: float, works: bool, behind: int | None = None) -> Gang:
    """Four ranks that made no progress for ``age`` seconds; ``behind``: the one that did not reach the last step."""
    idle = 0.0 if works else age
    activity = Activity("S", idle_seconds=idle, io_idle_seconds=idle, stack_unchanged_seconds=idle)
    reports = [
        RankReport(rank, rank, RANK_RUNNING, beats=10, step=9 if rank == behind else 10, phase=phase,
                   progress_age=age, source="Library", activity=activity)
        for rank in range(RANKS)
    ]
    views = tuple(RankView(rank=report.rank, worker=0, node="node", age=0.0, report=report) for report in reports)
    return Gang(workers=1, ranks_per_worker=RANKS, attempt=1, launchers={}, fresh=frozenset({0}), ranks=views,
                placement=None)


class Job:
    """One simulated job: what it has shown so far and what was said about it."""

    def __init__(self) -> None:
        self.learned: dict[str, Histogram] = {}
        self.outcome = Outcome()
        self.unsaved = 0.0
        self.limits = deadlines(self.learned, HEALTH, RANKS)

    def live(self, interval: Interval) -> None:
        """One healthy interval: what would have been said just before its end, and what is learned from it."""
        phase, seconds, outcome = interval.phase, interval.seconds, self.outcome
        if outcome.intervals % 50 == 0 or seconds > self.limits[phase]:
            self.limits = deadlines(self.learned, HEALTH, RANKS)
        if seconds > self.limits[phase]:
            self.suspect(interval)
        add(self.learned.setdefault(phase, {}), seconds, RANKS)
        outcome.intervals += 1
        outcome.job_seconds += seconds
        self.unsaved = 0.0 if phase == "checkpoint" else self.unsaved + seconds

    def suspect(self, interval: Interval) -> None:
        """Count what a healthy interval beyond its deadline leads to."""
        verdict = judge(gang(interval.phase, interval.seconds, interval.works, interval.behind), self.limits)
        if verdict.kind is Kind.STALLED:
            self.outcome.incidents += 1
            self.outcome.restarts += interval.seconds > self.acts_after(self.limits[interval.phase], verdict.decisive)

    def acts_after(self, age: float, decisive: bool) -> float:
        """Seconds without progress at which a verdict of this age leads to a restart."""
        cost = restart_cost(self.learned, self.unsaved)
        return age if decisive else age + remaining(cost, age, HEALTH.stall.max_seconds)

    def hang(self) -> Verdict:
        """Rank 2 stops for good in the next step; the verdict that comes, its latency noted."""
        self.limits = deadlines(self.learned, HEALTH, RANKS)
        age = 0.0
        while (verdict := judge(gang("step", age, works=False, behind=2), self.limits)).kind is not Kind.STALLED:
            age += LOOK_SECONDS
        self.outcome.latency = age
        self.outcome.to_action = self.acts_after(age, verdict.decisive)
        return verdict


def simulate(trace: Trace, count: int, seed: int) -> Outcome:
    """One trace from its start to the verdict on its hang."""
    job = Job()
    for interval in intervals(trace, count, random.Random(seed)):
        job.live(interval)
    verdict = job.hang()
    assert verdict.ranks == (2,), f"{trace.name}: rank 2 hung, and the verdict names {verdict.ranks}"
    return job.outcome


def main() -> None:
    """Print a line for each trace, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer steps a trace")
    count = 5_000 if parser.parse_args().quick else 100_000
    figures: dict[str, float] = {}
    outcomes = []
    for seed, trace in enumerate(TRACES):
        outcome = simulate(trace, count, seed)
        outcomes.append(outcome)
        figures[f"{trace.name}_seconds_to_verdict"] = outcome.latency
        print(
            f"{trace.name}: {outcome.intervals} intervals, {outcome.job_seconds / DAY:.1f} days, "
            f"{outcome.incidents} false incidents, {outcome.restarts} false restarts, verdict on the hang after "
            f"{outcome.latency:.1f} s, restart after {outcome.to_action:.1f} s"
        )
    figures["simulated_days"] = round(sum(outcome.job_seconds for outcome in outcomes) / DAY, 1)
    figures["false_incidents"] = sum(outcome.incidents for outcome in outcomes)
    figures["false_restarts"] = sum(outcome.restarts for outcome in outcomes)
    figures["median_seconds_to_verdict"] = statistics.median(outcome.latency for outcome in outcomes)
    print(json.dumps({"name": "detection", "figures": figures}))


if __name__ == "__main__":
    main()
