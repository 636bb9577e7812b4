"""As in torch 1.13: `step` of a class is wrapped when its first optimizer is made, and there are no global hooks."""

import functools


class Optimizer:
    def __init__(self, parameters=()):
        self._hook_for_profile()

    def _hook_for_profile(self):
        if not getattr(self.__class__.step, "hooked", None):
            self.__class__.step = _profiled(self.__class__.step)
            self.__class__.step.hooked = True

    def step(self, closure=None):
        raise NotImplementedError


def _profiled(step):
    @functools.wraps(step)
    def wrapper(*args, **kwargs):
        return step(*args, **kwargs)

    return wrapper
