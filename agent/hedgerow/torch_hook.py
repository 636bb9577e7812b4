"""Hooks of torch's modules, installed as they are imported: steps of optimizers, and time in collectives.

Every finished ``optimizer.step()`` of the leading optimizer is a step.
"""

from __future__ import annotations

import functools
import threading
import weakref
from typing import Any, Callable, Dict, Optional

from hedgerow import communication, heartbeat

# Steps of other optimizers without one of the leader after which the lead changes: a script that trains several
# (a GAN with five critic steps a turn) keeps its count, one that goes on with a new optimizer is followed.
TAKE_OVER_AFTER = 20


class StepCounter:
    """Counts the steps of one optimizer among several; ``report`` gets the number of each counted step, from 1."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report = report
        self._leader: Optional[Any] = None
        self._others = 0
        self._steps = 0

    def stepped(self, optimizer: Any) -> None:
        """``optimizer`` finished a step."""
        leader = self._leader() if self._leader is not None else None
        if leader is not optimizer:
            self._others += 1
            if leader is not None and self._others < TAKE_OVER_AFTER:
                return
            self._leader = weakref.ref(optimizer)
        self._others = 0
        self._steps += 1
        self._report(self._steps)


def install(module: Any) -> None:
    """Hook ``module``, just imported."""
    if module.__name__ == "torch.optim.optimizer":
        _count_steps(module)
    elif module.__name__ == "torch.nn.parallel.distributed":
        communication.watch_models(module.DistributedDataParallel)
    else:
        communication.time_calls(module)


def _stepped(step: int) -> None:
    heartbeat.beat_from_torch(step)
    communication.stepped()


def _count_steps(module: Any) -> None:
    counter = StepCounter(_stepped)
    register = getattr(module, "register_optimizer_step_post_hook", None)  # torch 2.0 and later
    if register is not None:
        register(lambda optimizer, _args, _kwargs: counter.stepped(optimizer))
        return
    _wrap_optimizers(module.Optimizer, counter)


def _wrap_optimizers(optimizer_class: Any, counter: StepCounter) -> None:
    """Before torch 2.0: wrap ``step`` of each class of optimizers when the first of it is made."""
    original = optimizer_class.__init__
    depths: Dict[Any, int] = {}

    @functools.wraps(original)
    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        kind = type(self)
        if not getattr(kind.__dict__.get("step"), "_hedgerow", False):
            kind.step = _counted(kind.step, counter, depths)

    optimizer_class.__init__ = initialise


def _counted(step: Any, counter: StepCounter, depths: Dict[Any, int]) -> Any:
    @functools.wraps(step)
    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        # A step that calls its base class's step is one step.
        key = (threading.get_ident(), id(self))
        depths[key] = depths.get(key, 0) + 1
        try:
            result = step(self, *args, **kwargs)
        finally:
            depth = depths.pop(key) - 1
            if depth:
                depths[key] = depth
        if not depth:
            counter.stepped(self)
        return result

    counted._hedgerow = True  # type: ignore[attr-defined]
    return counted
