"""What the ranks of a job do now."""

import pytest

from hedgerow import wire
from hedgerow_operator.cli.phase import phase_of
from hedgerow_operator.core.seen import Heard
from tests.unit.core.builders import exited, make_rank, make_report

PHASES: dict[str, tuple[list[wire.RankReport], int, str]] = {
    "that of all": ([make_rank(0, phase="eval"), make_rank(1, phase="eval")], 1, "eval"),
    "that of most": ([make_rank(0, phase="step"), *(make_rank(rank, phase="eval") for rank in (1, 2))], 1, "eval"),
    "that of the living": ([*(exited(rank, 0) for rank in (0, 1)), make_rank(2, phase="ending")], 1, "ending"),
    "nobody's when none is heard": ([], 1, ""),
    "not that of an earlier attempt": ([make_rank(0, phase="eval")], 2, ""),
}


@pytest.mark.parametrize("case", PHASES)
def test_the_phase_is(case: str) -> None:
    ranks, attempt, phase = PHASES[case]
    assert phase_of([Heard(report=make_report(*ranks), age=0.0)], attempt) == phase
