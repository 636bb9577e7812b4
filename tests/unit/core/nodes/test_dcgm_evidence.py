"""What a dcgm-exporter says of the GPU of a rank is evidence of its standstill, if the exporter looks often enough."""

from __future__ import annotations

import pytest

from hedgerow_operator.core.nodes.on_gpus import RanksOnGPUs
from tests.unit.core.builders import UID, make_rank, make_report
from tests.unit.core.nodes.exporter_text import Scrapes, line, text

POWER, TENSOR = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"
STEPS = 20


def served(at: float, power: str, tensor: str) -> str:
    """GPU 0 belongs to the pod of the only worker."""
    owned = line("DCGM_FI_DEV_MEMORY_TEMP", "41", namespace="ml", pod="demo-1-0-abcde", container="main")
    return owned + text(1, at=at, changes={0: {POWER: power, TENSOR: tensor}})


@pytest.mark.parametrize(("every", "told"), [(4.0, True), (10.0, False)], ids=["every 4 s", "every 10 s"])
def test_a_gpu_that_does_far_less_than_while_its_rank_trained(every: float, told: bool) -> None:
    ranks, scrapes = RanksOnGPUs(), Scrapes()
    for step in range(STEPS):
        report = scrapes.take(served(step * every, "350.1", "0.9"), after=every)
        ranks.read(UID, {"node-1": report}, [make_report(make_rank(0, step=step, progress_age=0.1), node="node-1")])
    report = scrapes.take(served(STEPS * every, "90.2", "0"), after=every)
    stands = make_report(make_rank(0, step=STEPS - 1, progress_age=20.0), node="node-1")
    ranks.read(UID, {"node-1": report}, [stands])
    assert ranks.places[0].index == 0
    assert ("draws 90 W instead of 350 W" in ranks.quiet.get(0, "")) is told
