"""Imitates the Trainer's order of events (transformers/trainer.py, 4.x): flags first, then callbacks, then the work."""

from types import SimpleNamespace


class TrainerCallback:
    """Every event exists and does nothing."""

    def _nothing(self, args, state, control, **kwargs):
        pass

    on_train_begin = on_epoch_begin = on_step_begin = on_pre_optimizer_step = on_optimizer_step = _nothing
    on_substep_end = on_step_end = on_prediction_step = on_evaluate = on_save = on_log = on_epoch_end = _nothing
    on_train_end = _nothing


class Trainer:
    """Two substeps a step; evaluates and saves as often as told."""

    def __init__(self, callbacks, eval_steps, save_steps):
        self.callbacks, self.eval_steps, self.save_steps = callbacks, eval_steps, save_steps
        self.state = SimpleNamespace(global_step=0)
        self.control = SimpleNamespace(should_evaluate=False, should_save=False)

    def call(self, event, **kwargs):
        """One event to every callback."""
        for callback in self.callbacks:
            getattr(callback, event)(None, self.state, self.control, model=None, **kwargs)

    def train(self, steps, resume_from=0):
        """The loop over steps."""
        self.state.global_step = resume_from
        self.call("on_train_begin")
        while self.state.global_step < steps:
            self.call("on_step_begin")
            self.call("on_substep_end")
            self.state.global_step += 1
            step = self.state.global_step
            self.control.should_evaluate = step % self.eval_steps == 0
            self.control.should_save = step % self.save_steps == 0
            self.call("on_step_end")
            self.call("on_log", logs={"loss": 1.0 / step, "grad_norm": 2.0, "learning_rate": 1e-4, "epoch": 0.1})
            self.evaluate_and_save()
        self.call("on_train_end")

    def evaluate_and_save(self):
        """As _maybe_log_save_evaluate does."""
        if self.control.should_evaluate:
            for _ in range(3):
                self.call("on_prediction_step")
            self.control.should_evaluate = False
            self.call("on_evaluate", metrics={"eval_loss": 0.5, "epoch": 0.1})
        if self.control.should_save:
            self.control.should_save = False
            self.call("on_save")
