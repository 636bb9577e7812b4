"""Numbers that a rank tells are what the launcher reads, the newest of each name."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from hedgerow import values
from hedgerow.record import VALUE_LIMIT
from tests.unit.agent.rank_process import run_rank


def told(folder: Path) -> dict[str, float]:
    table = values.read((folder / "heartbeat").read_bytes())
    return {name: value.number for name, value in table.items()}


SCRIPTS: dict[str, tuple[str, dict[str, float]]] = {
    "the newest of each name counts": (
        "import hedgerow\nfor n in range(3): hedgerow.beat(step=n, loss=1.5 - n, lr=0.1)",
        {"loss": -0.5, "lr": 0.1},
    ),
    "numbers are told without progress": ("import hedgerow\nhedgerow.note(loss=2)", {"loss": 2.0}),
    "what turns into a number is one": (
        "import fractions, hedgerow\nhedgerow.note(loss=fractions.Fraction(1, 4))",
        {"loss": 0.25},
    ),
    "what is no number is left out": ("import hedgerow\nhedgerow.beat(step=1, loss=[1], note='x', ok=1)", {"ok": 1.0}),
    "infinity is told": ("import hedgerow\nhedgerow.note(loss=float('inf'))", {"loss": math.inf}),
    "a long name is cut": ("import hedgerow\nhedgerow.note(**{'n' * 40: 1})", {"n" * 31: 1.0}),
    "a full table keeps the names that it has": (
        "import hedgerow\nfor n in range(40): hedgerow.note(**{'v%d' % n: n})\nhedgerow.note(v0=7)",
        {**{f"v{n}": float(n) for n in range(VALUE_LIMIT)}, "v0": 7.0},
    ),
    "a forked child is not the rank": (
        "import os, hedgerow\nhedgerow.note(loss=1)\n"
        "if os.fork() == 0:\n hedgerow.note(loss=2)\n os._exit(0)\nos.wait()",
        {"loss": 1.0},
    ),
}


@pytest.mark.parametrize(("code", "expected"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_script_tells_numbers(tmp_path: Path, code: str, expected: dict[str, float]) -> None:
    run_rank(tmp_path, code)
    assert told(tmp_path) == expected


def test_numbers_alone_are_no_progress(tmp_path: Path) -> None:
    assert run_rank(tmp_path, "import hedgerow\nhedgerow.note(loss=1)").total == 0


def test_values_do_not_silence_the_torch_hook(tmp_path: Path) -> None:
    packages = Path(__file__).parent / "packages" / "torch_2"
    code = "import hedgerow\nfrom torch.optim import SGD\nhedgerow.note(loss=1)\nSGD().step()"
    assert run_rank(tmp_path, code, path=(packages,)).total == 1


@pytest.mark.parametrize(
    ("number", "word"),
    [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (0.0, None), (1e308, None)],
)
def test_numbers_that_json_has_no_form_for_get_a_word(number: float, word: str | None) -> None:
    assert values.word(number) == word
