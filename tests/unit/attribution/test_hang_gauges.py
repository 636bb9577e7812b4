"""Scrapes of xpu_timer: ranks that hang, of how many."""

from pathlib import Path

import pytest

from hedgerow_operator.adapters.dumps.log_file import read_log
from hedgerow_operator.core.attribution.log.explanation import Explanation, explain


def scrape(*hanging: int, ranks: int = 4) -> str:
    return "# TYPE XPU_TIMER_COMMON_HANG gauge\n" + "".join(
        f'XPU_TIMER_COMMON_HANG{{ip="10.0.0.1",local_rank="{rank}",rank="{rank + 8}"}} {int(rank in hanging)}\n'
        for rank in range(ranks)
    )


def explanation_of(log: Path) -> Explanation:
    return explain(*read_log(log)[:1])


def test_some_ranks_that_hang_are_not_yet_the_whole_job(tmp_path: Path) -> None:
    (tmp_path / "x.prom").write_text(scrape(0, 2))

    explanation = explanation_of(tmp_path / "x.prom")

    assert (explanation.suspects, explanation.victims) == ((), (8, 10))
    assert "not yet the whole job (2 of 4)" in explanation.message


def test_all_ranks_that_hang_are_the_whole_job(tmp_path: Path) -> None:
    (tmp_path / "x.prom").write_text(scrape(0, 1, 2, 3))

    assert explanation_of(tmp_path / "x.prom").message == "all 4 ranks hang: the whole job stands still"


RECORDED = {
    "xpu_timer_normal.prom": (0, "the output tells of no failure"),
    "xpu_timer_hang_some_ranks.prom": (3, "ranks 0, 2 and 5 of 8 hang: not yet the whole job"),
    "xpu_timer_hang_all_ranks.prom": (8, "all 8 ranks hang"),
}


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "hanging", "message"), [(name, *told) for name, told in RECORDED.items()], ids=RECORDED
)
def test_a_recorded_scrape_says(name: str, hanging: int, message: str, shared_data: Path) -> None:
    explanation = explanation_of(shared_data / "training_logs" / name)

    assert len(explanation.events) == hanging
    assert explanation.message.startswith(message)
    assert explanation.suspects == ()
