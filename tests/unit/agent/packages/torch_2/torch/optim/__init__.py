"""As in torch: the classes of optimizers."""

from torch.optim.optimizer import Optimizer


class SGD(Optimizer):
    def step(self, closure=None):
        return "stepped"


class Nested(SGD):
    def step(self, closure=None):
        return super().step(closure)


class Failing(Optimizer):
    def step(self, closure=None):
        raise RuntimeError("out of memory")
