"""Progress of a Lightning Trainer: ``Trainer(…, callbacks=[HedgerowCallback()])``, of either of its two packages.

Importing this module imports Lightning; ``import hedgerow`` does not.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from hedgerow.heartbeat import beat, note
from hedgerow.wire import PHASE_CHECKPOINT, PHASE_ENDING, PHASE_EVAL

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def _callback_class() -> Any:
    """The class of the package that the script uses; installed are often both."""
    for name in _PACKAGES:
        if name in sys.modules:
            return sys.modules[name].Callback
    for name in _PACKAGES:
        try:
            return importlib.import_module(name).Callback
        except ImportError:
            continue
    raise ImportError("hedgerow.lightning needs the package lightning or pytorch_lightning; install one of them")


class HedgerowCallback(_callback_class()):  # type: ignore[misc]
    """Beats at each optimizer step, names validation and saving as phases, and notes the numbers that are logged."""

    _noted_step = 0

    def on_train_batch_start(self, trainer: Any, *batch: Any, **more: Any) -> None:
        """``global_step`` counts the optimizer steps that have ended; batches of the same step are one step."""
        beat(step=trainer.global_step + 1)

    def on_train_batch_end(self, trainer: Any, *batch: Any, **more: Any) -> None:
        """Numbers are taken as often as the trainer's loggers take them: reading one waits for the GPU."""
        step, every = trainer.global_step, trainer.log_every_n_steps
        if every and step % every == 0 and step != self._noted_step:
            self._noted_step = step
            metrics = dict(trainer.callback_metrics)
            # By Lightning's own habit the loss that is optimized is logged as train_loss.
            if "train_loss" in metrics:
                metrics.setdefault("loss", metrics["train_loss"])
            note(**metrics)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """The check of a few batches before the training is part of the beginning."""
        if not trainer.sanity_checking:
            beat(step=trainer.global_step, phase=PHASE_EVAL)

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:
        """Called before the file is written."""
        beat(step=trainer.global_step, phase=PHASE_CHECKPOINT)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Only the rest of the script is left."""
        beat(step=trainer.global_step, phase=PHASE_ENDING)
