"""Hours of healthy reports, in which nothing may be told."""

import random
from collections.abc import Callable

import pytest

from hedgerow.wire import CommunicationReport, RankReport
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.core.watching.job_watch import JobWatch
from tests.unit.core.builders import make_job, make_rank, make_report

RANKS, REPORT_SECONDS = 4, 5.0
GIBIBYTE = 2**30
Made = Callable[[random.Random, int, float], RankReport]


def plain(step_seconds: float = 0.5, **fields: object) -> Callable[[int, float], RankReport]:
    """A rank at this pace."""
    return lambda rank, at: make_rank(rank, step=int(at / step_seconds), step_seconds=step_seconds, **fields)


def jittering(spread: float) -> Made:
    return lambda chance, rank, at: plain(0.5 * chance.lognormvariate(0.0, spread))(rank, at)


def stages(chance: random.Random, rank: int, at: float) -> RankReport:
    """Stages of a pipeline: the last one computes half as long again as the others."""
    own = (0.4 if rank < 3 else 0.6) * chance.lognormvariate(0.0, 0.05)
    return make_rank(rank, step=int(at), step_seconds=0.7 + own / 100,
                     communication=CommunicationReport(max(0.01, 0.7 - own), None, "DDP"))


def numbers(chance: random.Random, rank: int, at: float) -> RankReport:
    """A loss that falls, and jumps about as small batches make it; a gradient norm with a heavy tail."""
    loss = 2.0 + 8.0 / (1.0 + at / 600.0) + chance.gauss(0.0, 0.15)
    return plain(values={"loss": loss, "grad_norm": chance.lognormvariate(0.0, 0.8)})(rank, at)


def memory(chance: random.Random, rank: int, at: float) -> RankReport:
    """Memory that goes up and down by the batch, above caches that have filled in the first minutes."""
    used = 8 * GIBIBYTE * (1.0 - 0.5 ** (at / 60.0)) + chance.uniform(0.0, GIBIBYTE)
    return plain(memory_bytes=int(used))(rank, at)


def hours(chance: random.Random, rank: int, at: float) -> RankReport:
    """A pace that drifts by a few percent over the day."""
    return plain(0.5 * (1.0 + 0.03 * (at % 7200.0) / 7200.0) * chance.lognormvariate(0.0, 0.02))(rank, at)


HEALTHY: dict[str, Made] = {
    "steps that hardly vary": jittering(0.005),
    "steps that vary": jittering(0.1),
    "steps that vary wildly": jittering(0.5),
    "stages of a pipeline": stages,
    "a noisy loss and gradient norm": numbers,
    "caches that fill": memory,
    "a pace that drifts a little": hours,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_told_of(name: str, seed: int) -> None:
    chance, watch = random.Random(seed), JobWatch()
    watch.follow(make_job(status=TrainingJobStatus(attempt=1, placement=1, attempt_stage="Running")))
    for tick in range(1, 2000):
        at = tick * REPORT_SECONDS
        ranks = [HEALTHY[name](chance, rank, at) for rank in range(RANKS)]
        watch.take(make_report(*ranks, memory_limit_bytes=64 * GIBIBYTE), at)
        assert watch.signs(at).signs == (), f"after {at} s"
    assert watch.signs(at).judged >= {"SlowerThanBaseline", "nan-loss"}
