"""A job's communication in two figures: means over the ranks that tell it now, and nothing where none does."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow.wire import RANK_RUNNING, CommunicationReport, RankReport
from hedgerow_operator.core.watching.communication import FRESH_SECONDS, MOST_RANKS, Communication, communication
from tests.unit.server.builders import report


def rank(measured: CommunicationReport | None) -> RankReport:
    return RankReport(rank=0, local_rank=0, state=RANK_RUNNING, communication=measured)


def told(share: float | None, bus: float | None = None, age: float = 0.0) -> CommunicationReport:
    return CommunicationReport(0.1, share=share, source="Inspector", age=age, bus_gigabytes_per_second=bus)


CASES: dict[str, tuple[list[Any], float, Communication]] = {
    "nobody tells it": ([None, None], 0.0, Communication()),
    "the mean of those who do": (
        [told(0.1, 400.0), told(0.3, 200.0), None], 0.0, Communication(share=0.2, bus_bytes_per_second=3e11),
    ),
    "a share without a bandwidth": ([told(0.5)], 0.0, Communication(share=0.5)),
    "what was measured long ago is no figure of now": ([told(0.5, 400.0, age=FRESH_SECONDS + 1)], 0.0, Communication()),
    "nor what came long ago": ([told(0.5, 400.0)], FRESH_SECONDS + 1, Communication()),
    "a negative one is none": ([told(-1.0, -1.0)], 0.0, Communication()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_figures_when(case: str) -> None:
    ranks, age, expected = CASES[case]
    found = communication([(report(ranks=[rank(one) for one in ranks]), age)])
    assert found.share == (None if expected.share is None else pytest.approx(expected.share))
    assert found.bus_bytes_per_second == expected.bus_bytes_per_second


def test_of_each_launcher_the_first_ranks_are_asked() -> None:
    ranks = [rank(told(0.1))] * MOST_RANKS + [rank(told(0.9))] * 1000
    assert communication([(report(ranks=ranks), 0.0)]).share == pytest.approx(0.1)
