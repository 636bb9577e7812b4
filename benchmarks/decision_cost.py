"""What one decision costs on the largest job: 2048 workers of 8 ranks, all heard anew, in every state.

A tick is one decision: what is seen and stored, to what is to be done and written. What a report costs when it arrives
is counted apart, since it is spread over the interval. Run: python benchmarks/decision_cost.py [--quick]
"""

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from hedgerow.wire import (
    RANK_EXITED,
    RANK_RUNNING,
    STAGE_RUNNING,
    Activity,
    CommunicationReport,
    JobRef,
    RankReport,
    Report,
)
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.core.decide import decide
from hedgerow_operator.core.rank_sums import sums_of
from hedgerow_operator.core.seen import WORKER_RUNNING, Heard, PlacementSeen, Seen, WorkerSeen
from hedgerow_operator.core.watching.job_watch import JobWatch

WORKERS, RANKS = 2048, 8
AIM_MILLIS = 20.0
NOW = 1_800_000_000.0
STEP_SECONDS, REPORT_SECONDS = 0.5, 5.0


def job() -> TrainingJob:
    """The job in the middle of its first attempt."""
    fields = {
        "metadata": {"name": "large", "namespace": "ml", "uid": "large", "generation": 1},
        "spec": {"workers": WORKERS, "ranksPerWorker": RANKS, "local": {"command": ["train"]}},
    }
    status = TrainingJobStatus(
        attempt=1,
        placement=1,
        attempt_stage="Running",
        start_time="2027-01-15T07:00:00Z",
        attempt_started_at="2027-01-15T07:00:00Z",
    )
    found = training_job(fields)
    return TrainingJob(metadata=found.metadata, spec=found.spec, status=status)


def report(worker: int, step: int, age: float, behind: int | None) -> Report:
    """What a launcher says; ``behind``: the rank that never reached the last step."""
    idle = age if age > STEP_SECONDS else 0.0
    activity = Activity("S", "futex_wait", 1000.0, idle, idle, idle or None)
    ranks = [
        RankReport(
            rank=rank,
            local_rank=rank % RANKS,
            state=RANK_RUNNING,
            pid=rank,
            beats=step,
            step=step - (rank == behind),
            phase="step",
            progress_age=age,
            source="Library",
            step_seconds=STEP_SECONDS,
            activity=activity,
            values={"loss": 2.0, "grad_norm": 1.0},
            memory_bytes=10**10,
            communication=CommunicationReport(0.1, 0.2, "DDP", 1.0),
            stack="" if idle else None,
        )
        for rank in range(worker * RANKS, worker * RANKS + RANKS)
    ]
    return Report(
        job=JobRef("large", "ml", "large"),
        placement=1,
        worker=worker,
        workers=WORKERS,
        ranks_per_worker=RANKS,
        boot="b",
        launcher=f"l{worker}",
        seq=step,
        sent_monotonic=0.0,
        sent_wall=0.0,
        stage=STAGE_RUNNING,
        attempt=1,
        ranks=ranks,
        durations={"init": {60: RANKS}, "step": {35: step * RANKS, 36: step}},
        memory_limit_bytes=10**12,
    )


def reports(step: int, age: float = 0.2, behind: int | None = None) -> list[Report]:
    """One from every launcher."""
    return [report(worker, step, age, behind) for worker in range(WORKERS)]


def stack(function: str, rank: int) -> str:
    """As faulthandler writes it: no two ranks have the same text, since threads have numbers."""
    return (
        f"Thread 0x{rank:016x} (most recent call first):\n"
        + '  File "/usr/lib/python3.11/threading.py", line 3 in wait\n'
        f"\nCurrent thread 0x{rank + 1:016x} (most recent call first):\n"
        f'  File "/app/train.py", line 88 in {function}\n' + '  File "/app/train.py", line 9 in main\n' * 20
    )


SPINS = Activity("R", "", 1000.0, 0.0, 600.0, 500.0)
Change = Callable[[RankReport], RankReport]


def _spins(odd: int | None = None) -> Change:
    return lambda one: replace(
        one, activity=SPINS, stack=stack("refill" if one.rank == odd else "all_reduce", one.rank)
    )


def _exits(chosen: Callable[[int], bool], code: int, line: str = "ValueError: no labels") -> Change:
    """The chosen ranks have ended."""
    return lambda one: (
        replace(one, state=RANK_EXITED, exit_code=code, exit_age=5.0, output_tail=[line]) if chosen(one.rank) else one
    )


# What the ranks of a gang that has stood still for ten minutes say instead.
STANDING: dict[str, Change] = {
    "nobody stands out": lambda one: replace(one, stack=None),
    "all spin in one place": _spins(),
    "one spins elsewhere": _spins(odd=4711),
    "one is stopped": lambda one: replace(
        one, activity=Activity("T", "", 1000.0, 600.0, 600.0, None) if one.rank == 4711 else SPINS
    ),
    "half are a step behind": lambda one: replace(one, step=one.step - one.rank % 2),
    "half go on": lambda one: replace(one, progress_age=0.2) if one.rank % 2 else one,
    "half go on and are far ahead": lambda one: (
        replace(one, progress_age=0.2, step=(one.step or 0) + 9) if one.rank % 2 else one
    ),
    "half work": lambda one: replace(one, activity=Activity("R", "", 1.0, 0.0, 0.0, 0.0)) if one.rank % 2 else one,
    "one speaks for all by its log": lambda one: (
        replace(one, source="Log") if one.rank == 0 else replace(one, source=None, beats=0, step=None, phase="init")
    ),
    "one speaks for all by its log, half work": lambda one: replace(
        STANDING["one speaks for all by its log"](one),
        activity=Activity("R", "", 1.0, 0.0, 0.0, 0.0) if one.rank % 2 else one.activity,
    ),
    "all work": lambda one: replace(one, activity=Activity("R", "", 1.0, 0.0, 0.0, 0.0)),
    "one has failed": _exits(lambda rank: rank == 4711, 1),
    "all have failed": _exits(lambda rank: True, 1),
    "half have ended well": _exits(lambda rank: rank % 2 == 0, 0),
    "half have ended well long ago": lambda one: replace(
        _exits(lambda rank: rank % 2 == 0, 0)(one), exit_age=900.0, progress_age=900.0
    ),
}


def standing(watch: JobWatch) -> dict[str, Seen]:
    """Every kind of standstill as the shell sees it."""
    still = reports(2000, age=600.0)
    states = {
        name: seen([replace(one, ranks=[change(rank) for rank in one.ranks]) for one in still], watch)
        for name, change in STANDING.items()
    }
    states["half are not heard"] = seen(still[: WORKERS // 2], watch)
    return {"one never reached the step": seen(reports(2000, age=600.0, behind=4711), watch), **states}


def seen(heard: list[Report], watch: JobWatch) -> Seen:
    """The job as the shell sees it."""
    workers = tuple(
        WorkerSeen(
            index=index, name=f"large-1-{index}", phase=WORKER_RUNNING, node=f"node{index}", running_seconds=3600.0
        )
        for index in range(WORKERS)
    )
    return Seen(
        placements=(PlacementSeen(attempt=1, workers=workers, age_seconds=3600.0),),
        heard=tuple(
            Heard(report=one, age=index / WORKERS * REPORT_SECONDS, sums=sums_of(one.ranks))
            for index, one in enumerate(heard)
        ),
        listening_seconds=3600.0,
        signs=watch.signs(NOW),
    )


def millis(work: Callable[[], object]) -> float:
    """Milliseconds of this process's own time that it takes: what others do on the machine is left out."""
    begun = time.process_time()
    work()
    return 1000.0 * (time.process_time() - begun)


def main() -> None:
    """Print a line for each kind of tick, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer ticks")
    ticks = 5 if parser.parse_args().quick else 40
    large, watch = job(), JobWatch()
    watch.follow(large)
    healthy: list[float] = []
    arriving: list[float] = []
    for tick in range(ticks):
        heard = reports(1000 + 10 * tick)
        at = NOW + REPORT_SECONDS * tick
        gc.collect()
        arriving.append(millis(lambda heard=heard, at=at: [(watch.take(one, at), sums_of(one.ranks)) for one in heard]))
        now = seen(heard, watch)
        healthy.append(millis(lambda now=now, at=at: decide(large, now, at)))
    still: dict[str, float] = {}
    for name, state in standing(watch).items():
        still[name] = statistics.median(
            millis(lambda state=state: decide(large, state, NOW)) for _ in range(ticks // 4 + 2)
        )
        print(f"{still[name]:6.1f} ms  standing still: {name}")
    worst = max(still, key=lambda name: still[name])
    print(f"worst: {worst}")
    figures = {
        "ranks": WORKERS * RANKS,
        "healthy_tick_millis": round(statistics.median(healthy), 1),
        "healthy_tick_millis_p95": round(sorted(healthy)[int(0.95 * (ticks - 1))], 1),
        "standing_tick_millis_median": round(statistics.median(still.values()), 1),
        "worst_tick_millis": round(still[worst], 1),
        "arrival_micros_per_report": round(1000.0 * statistics.median(arriving) / WORKERS, 1),
        "aim_millis": AIM_MILLIS,
    }
    for name, value in figures.items():
        print(f"{name}: {value}")
    print(json.dumps({"name": "decision_cost", "figures": figures}))


if __name__ == "__main__":
    main()
