"""Callbacks for other people's trainers, driven by imitations of their order of events."""

from __future__ import annotations

from pathlib import Path

from tests.unit.agent.rank_process import PACKAGES, run_rank
from tests.unit.agent.test_values import told

TRAINERS = PACKAGES / "trainers"
HUGGING_FACE = """
from transformers import Trainer
from hedgerow.huggingface import HedgerowCallback
Trainer([HedgerowCallback()], eval_steps=2, save_steps=%d).train(%d, resume_from=%d)
"""
LIGHTNING = """
from lightning.pytorch import Trainer
from hedgerow.lightning import HedgerowCallback
Trainer([HedgerowCallback()], val_every=2, save_every=3).fit(3)
"""
OLD_LIGHTNING = """
import pytorch_lightning
from types import SimpleNamespace
from hedgerow.lightning import HedgerowCallback
assert issubclass(HedgerowCallback, pytorch_lightning.Callback)
trainer = SimpleNamespace(global_step=0, log_every_n_steps=1, callback_metrics={"loss": 3.0})
pytorch_lightning.one_batch(HedgerowCallback(), trainer)
"""


def phases(folder: Path, code: str, path: Path = TRAINERS) -> list[tuple[int | None, str]]:
    return [(b.step, b.phase) for b in run_rank(folder, code, path=(path,)).boundaries]


def test_hugging_face_steps_evaluations_and_saves(tmp_path: Path) -> None:
    assert phases(tmp_path, HUGGING_FACE % (2, 3, 0)) == [
        (1, "step"), (2, "step"), (2, "eval"), (2, "checkpoint"), (3, "step"), (3, "ending"),
    ]  # fmt: skip
    assert told(tmp_path) == {"loss": 1.0 / 3, "grad_norm": 2.0, "learning_rate": 1e-4, "eval_loss": 0.5}


def test_hugging_face_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    assert phases(tmp_path, HUGGING_FACE % (5, 5, 4)) == [(5, "step"), (5, "checkpoint"), (5, "ending")]


def test_lightning_steps_validations_and_saves(tmp_path: Path) -> None:
    assert phases(tmp_path, LIGHTNING) == [
        (1, "step"), (2, "step"), (2, "eval"), (3, "step"), (3, "checkpoint"), (3, "ending"),
    ]  # fmt: skip
    assert told(tmp_path) == {"train_loss": 7.0, "loss": 7.0, "val/acc": 0.5}


def test_lightning_of_the_older_package(tmp_path: Path) -> None:
    assert phases(tmp_path, OLD_LIGHTNING, PACKAGES / "old_trainers") == [(1, "step")]
    assert told(tmp_path) == {"loss": 3.0}


def test_importing_hedgerow_imports_no_trainer(tmp_path: Path) -> None:
    code = "import sys, hedgerow\nassert not {'transformers', 'lightning', 'pytorch_lightning'} & set(sys.modules)"
    run_rank(tmp_path, code, path=(TRAINERS,))
