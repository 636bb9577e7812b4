"""Progress from torch without a line of ours in the script: two generations of its optimizers, imitated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.agent.rank_process import PACKAGES, run_rank, steps

GENERATIONS = pytest.mark.parametrize("torch", ["torch_1", "torch_2"])

SCRIPTS = {
    "every step of an optimizer counts once": (
        "import torch.optim\no = torch.optim.SGD()\nassert [o.step() for _ in range(3)] == ['stepped'] * 3",
        [1, 2, 3],
    ),
    "a step that calls its base class's step is one": (
        "import torch.optim\no = torch.optim.Nested()\nfor _ in range(3): o.step()",
        [1, 2, 3],
    ),
    "the first optimizer that steps leads": (
        "from torch.optim import SGD\na, b = SGD(), SGD()\nfor _ in range(3):\n a.step(); b.step(); b.step()",
        [1, 2, 3],
    ),
    "a new optimizer is followed when the first is gone": (
        "from torch.optim import SGD\na = SGD(); a.step(); del a\nb = SGD(); b.step(); b.step()",
        [1, 2, 3],
    ),
    "a new optimizer is followed when the first is left unused": (
        "from torch.optim import SGD\na, b = SGD(), SGD()\na.step()\nfor _ in range(21): b.step()",
        [1, 2, 3],
    ),
    "a step that fails is none, and the next one counts": (
        "from torch.optim import Failing, SGD\na, b = Failing(), SGD()\n"
        "for _ in range(2):\n try: a.step()\n except RuntimeError: pass\n b.step()",
        [1, 2],
    ),
    "a script that beats by itself silences the hook": (
        "import hedgerow\nfrom torch.optim import SGD\na = SGD()\na.step()\nhedgerow.beat(step=50)\na.step()\n"
        "hedgerow.beat(step=51)",
        [1, 50, 51],
    ),
}


@GENERATIONS
@pytest.mark.parametrize(("code", "expected"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_progress_from_optimizers(tmp_path: Path, torch: str, code: str, expected: list[int]) -> None:
    assert steps(run_rank(tmp_path, code, path=(PACKAGES / torch,))) == expected


@GENERATIONS
def test_the_source_is_reported(tmp_path: Path, torch: str) -> None:
    code = "import hedgerow\nfrom torch.optim import SGD\nSGD().step()\nhedgerow.beat(step=7)"
    reading = run_rank(tmp_path, code, path=(PACKAGES / torch,))
    assert [boundary.source for boundary in reading.boundaries] == ["Torch", "Library"]


@GENERATIONS
def test_no_hook_where_only_the_library_counts(tmp_path: Path, torch: str) -> None:
    code = "from torch.optim import SGD\nSGD().step()"
    reading = run_rank(tmp_path, code, path=(PACKAGES / torch,), HEDGEROW_HEARTBEAT_SOURCE="Library")
    assert reading.total == 0


@GENERATIONS
def test_torch_looks_as_if_nobody_had_touched_its_import(tmp_path: Path, torch: str) -> None:
    code = (
        "import inspect, sys, torch.optim.optimizer as module\n"
        "assert 'Optimizer' in inspect.getsource(module)\n"
        "assert module.__spec__.loader is module.__loader__\n"
        "import torch.distributed.distributed_c10d, torch.nn.parallel.distributed\n"
        "assert not [finder for finder in sys.meta_path if 'Watch' in str(finder)]\n"
    )
    run_rank(tmp_path, code, path=(PACKAGES / torch,))
