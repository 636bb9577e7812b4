"""When a launcher whose ranks are gone leaves, and with which exit code."""

from __future__ import annotations

import pytest

from hedgerow.leaving import Situation, exit_code

CASES: dict[str, tuple[Situation, int | None]] = {
    "nothing has started yet": (Situation(has_operator=True), None),
    "the ranks ended well, the operator is there": (Situation(True, began=True), None),
    "the ranks ended well, the operator is silent": (Situation(True, began=True, silence=60), 0),
    "the ranks ended well, the operator is silent for a moment": (Situation(True, began=True, silence=59), None),
    "a rank failed: the next attempt may come": (Situation(True, began=True, worst_exit_code=1, silence=9999), None),
    "told to finish": (Situation(True, finish_code=5, began=True, worst_exit_code=1), 5),
    "told to finish before anything started": (Situation(True, finish_code=0), 0),
    "asked to end while it waits": (Situation(True, signalled=True), 143),
    "asked to end, the ranks were stopped": (Situation(True, signalled=True, began=True, worst_exit_code=143), 143),
    "asked to end, the ranks had ended well": (Situation(True, signalled=True, began=True), 0),
    "by hand, ended well": (Situation(False, began=True), 0),
    "by hand, a rank failed": (Situation(False, began=True, worst_exit_code=3), 3),
}


@pytest.mark.parametrize(("situation", "code"), CASES.values(), ids=CASES.keys())
def test_a_launcher_without_live_ranks(situation: Situation, code: int | None) -> None:
    assert exit_code(situation) == code
