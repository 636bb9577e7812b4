"""Imitates Lightning's order of hooks (lightning/pytorch/loops, 2.x)."""


class Callback:
    """Every hook exists and does nothing."""

    def _nothing(self, trainer, pl_module, *args):
        pass

    on_train_start = on_train_batch_start = on_train_batch_end = on_validation_start = _nothing
    on_validation_end = on_save_checkpoint = on_train_end = _nothing


class Trainer:
    """Two batches a step; validates and saves as often as told."""

    def __init__(self, callbacks, val_every, save_every):
        self.callbacks, self.val_every, self.save_every = callbacks, val_every, save_every
        self.global_step = 0
        self.log_every_n_steps = 2
        self.sanity_checking = False
        self.callback_metrics = {}

    def call(self, hook, *args):
        """One hook of every callback."""
        for callback in self.callbacks:
            getattr(callback, hook)(self, None, *args)

    def fit(self, steps):
        """The loop over batches."""
        self.sanity_checking = True
        self.call("on_validation_start")
        self.sanity_checking = False
        self.call("on_train_start")
        for batch in range(2 * steps):
            self.call("on_train_batch_start", "batch", batch)
            self.callback_metrics = {"train_loss": 10.0 - batch, "val/acc": 0.5}
            self.global_step += batch % 2
            self.call("on_train_batch_end", {}, "batch", batch)
            if batch % 2:
                self.validate_and_save()
        self.call("on_train_end")

    def validate_and_save(self):
        """After a step."""
        if self.global_step % self.val_every == 0:
            self.call("on_validation_start")
            self.call("on_validation_end")
        if self.global_step % self.save_every == 0:
            self.call("on_save_checkpoint", {})
