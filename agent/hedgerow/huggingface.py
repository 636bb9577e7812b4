"""Progress of a Hugging Face Trainer: ``Trainer(…, callbacks=[HedgerowCallback()])``.

Importing this module imports transformers; ``import hedgerow`` does not.
"""

from __future__ import annotations

from typing import Any, Dict, Optional

from transformers import TrainerCallback

from hedgerow.heartbeat import beat, note
from hedgerow.wire import PHASE_CHECKPOINT, PHASE_ENDING, PHASE_EVAL

# Names in the Trainer's logs (transformers/trainer.py).
_LOGGED = ("loss", "grad_norm", "learning_rate", "eval_loss", "num_input_tokens_seen")


class HedgerowCallback(TrainerCallback):  # type: ignore[misc]
    """Beats at each optimizer step, names evaluation and saving as phases, and notes the numbers that are logged."""

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """``global_step`` counts the steps that have ended."""
        beat(step=state.global_step + 1)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """What the Trainer does next stands in ``control``, which its own callback has set before this one."""
        _begin_next(state, control)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """As after a step."""
        _begin_next(state, control)

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any) -> None:
        """Called when an evaluation has ended."""
        _note(metrics)
        if control.should_save:
            beat(step=state.global_step, phase=PHASE_CHECKPOINT)

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Each batch of an evaluation, also of one that the script asked for."""
        beat(step=state.global_step, phase=PHASE_EVAL)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """What the Trainer logs it has as numbers already."""
        _note(logs)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Only the rest of the script is left."""
        beat(step=state.global_step, phase=PHASE_ENDING)


def _begin_next(state: Any, control: Any) -> None:
    if control.should_evaluate:
        beat(step=state.global_step, phase=PHASE_EVAL)
    elif control.should_save:
        beat(step=state.global_step, phase=PHASE_CHECKPOINT)


def _note(logs: Optional[Dict[str, Any]]) -> None:
    if logs:
        note(**{name: logs[name] for name in _LOGGED if name in logs})
