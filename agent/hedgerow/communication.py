"""Time in collectives, measured inside the rank: from the logging data of torch's DDP, around explicit calls, else from
the flight recorder of NCCL.

DDP's collectives are called from C++, so that wrapping Python sees nothing of them; DDP itself times every so many
iterations. ``backward_comm_time`` is nanoseconds from the start of the first bucket's all-reduce to the end of the
last (torch/csrc/distributed/c10d/reducer.cpp), waiting for slower ranks included.
"""

from __future__ import annotations

import functools
import sys
import time
import weakref
from typing import Any, Callable, Dict, List, Optional

from hedgerow import heartbeat
from hedgerow.communication_recorder import RecorderTimes
from hedgerow.communication_report import KIND, KIND_CALLS, KIND_DDP, KIND_RECORDER, SECONDS, SHARE

WINDOW_SECONDS = 60.0
# DDP's data change with every sampled iteration; reading costs less than 0.1 ms.
READ_SECONDS = 2.0
# DDP samples every 100th iteration by default; with slow steps that would be less than one a minute.
SAMPLE_SECONDS = 10.0
_USUAL_SAMPLE_RATE = 100

# An explicit call blocks until it is done only with these; NCCL's returns once the work is queued.
_BLOCKING_BACKENDS = ("gloo", "mpi")
_NCCL = "nccl"
_CALLS = (
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single",
    "barrier", "broadcast", "broadcast_object_list", "gather", "gather_object", "monitored_barrier", "recv", "reduce",
    "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
)  # fmt: skip


class _Model:
    """One instance of DistributedDataParallel, and its samples of this window."""

    def __init__(self, model: Any) -> None:
        self.reference = weakref.ref(model)
        self.samples: List[float] = []
        self._iteration: Any = None
        self._rate = _USUAL_SAMPLE_RATE

    def read(self) -> None:
        model = self.reference()
        if model is None:
            return
        data: Dict[str, Any] = model._get_ddp_logging_data()
        spent, iteration = data.get("backward_comm_time"), data.get("iteration")
        if spent is not None and iteration != self._iteration:
            self._iteration = iteration
            self.samples.append(spent / 1e9)

    def adapt(self, step_seconds: float) -> None:
        """Have slow steps sampled more often."""
        model = self.reference()
        rate = max(1, min(_USUAL_SAMPLE_RATE, int(SAMPLE_SECONDS / max(step_seconds, 1e-9))))
        if model is not None and not self._rate / 2 <= rate <= self._rate * 2:
            model._set_ddp_runtime_logging_sample_rate(rate)
            self._rate = rate


class Meter:
    """Sums up windows of steps. ``note`` gets the results; everything runs on the thread that steps."""

    def __init__(
        self,
        note: Callable[..., None],
        clock: Callable[[], float] = time.monotonic,
        recorder: Optional[RecorderTimes] = None,
    ) -> None:
        self._note = note
        self._clock = clock
        self._recorder = recorder or RecorderTimes()
        self._models: List[_Model] = []
        self._in_calls = 0.0
        self._inside = False
        self._steps = 0
        self._began = clock()
        self._read_at = self._began

    def add_model(self, model: Any) -> None:
        """``model`` is a new instance of DistributedDataParallel."""
        self._models.append(_Model(model))

    def timed(self, function: Any) -> Any:
        """``function`` with its wall time counted; a call within a call counts once."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return function(*args, **kwargs)
            self._inside = True
            began = self._clock()
            try:
                return function(*args, **kwargs)
            finally:
                self._in_calls += self._clock() - began
                self._inside = False

        return call

    def stepped(self) -> None:
        """An optimizer step has ended, so that no backward pass is under way."""
        now = self._clock()
        self._steps += 1
        if now - self._read_at < READ_SECONDS and now - self._began < WINDOW_SECONDS:
            return
        self._read_at = now
        self._models = [model for model in self._models if model.reference() is not None]
        for model in self._models:
            model.read()
        if now - self._began >= WINDOW_SECONDS:
            self._publish(now)

    def _publish(self, now: float) -> None:
        step_seconds = (now - self._began) / self._steps
        spent = [sum(model.samples) / len(model.samples) for model in self._models if model.samples]
        kind = KIND_DDP if spent else 0
        if self._in_calls and _backend() in _BLOCKING_BACKENDS:
            kind += KIND_CALLS
            spent.append(self._in_calls / self._steps)
        if not kind:
            recorded = self._recorded(now - self._began)
            if recorded is not None:
                kind = KIND_RECORDER
                spent.append(recorded * step_seconds)
        if kind:
            self._note(**{KIND: kind, SHARE: sum(spent) / step_seconds, SECONDS: sum(spent)})
        for model in self._models:
            model.samples = []
            model.adapt(step_seconds)
        self._began, self._steps, self._in_calls = now, 0, 0.0


    def _recorded(self, seconds: float) -> Optional[float]:
        """The share of the time by NCCL's flight recorder; DDP's own data, of whole passes, come before it."""
        try:
            return self._recorder.share(seconds) if _NCCL in _backend() else None
        except Exception:  # noqa: BLE001 (torch's interface for it is its own: it may change)
            return None


def _backend() -> str:
    return str(sys.modules["torch.distributed"].get_backend())


_meter = Meter(heartbeat.note)


def stepped() -> None:
    """To be called after each step of the leading optimizer. Never raises."""
    try:
        _meter.stepped()
    except Exception:  # noqa: BLE001 (torch's interface for it is a prototype: it may change)
        pass


def watch_models(model_class: Any) -> None:
    """Note every instance of ``model_class`` (DistributedDataParallel) that is made."""
    original = model_class.__init__

    @functools.wraps(original)
    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _meter.add_model(self)

    model_class.__init__ = initialise


def time_calls(module: Any) -> None:
    """Time the collectives of ``module`` (torch.distributed.distributed_c10d), just imported."""
    for name in _CALLS:
        function = getattr(module, name, None)
        if function is not None:
            setattr(module, name, _meter.timed(function))
