"""Time in collectives: sums of windows by a fake clock, and hooks in two generations of torch, imitated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hedgerow import communication, values
from hedgerow.communication import WINDOW_SECONDS, Meter
from hedgerow.communication_report import KIND, SECONDS, SHARE
from tests.unit.agent.rank_process import PACKAGES, run_rank


class Model:
    """DDP's logging data: the newest sample, in nanoseconds, and the iteration that it is of."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.rate = 100

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        return self.data

    def _set_ddp_runtime_logging_sample_rate(self, rate: int) -> None:
        self.rate = rate


class Bench:
    """A meter with a clock that the test moves."""

    def __init__(self, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.told: list[dict[str, float]] = []
        self.meter = Meter(lambda **told: self.told.append(told), lambda: self.now)
        monkeypatch.setattr(communication, "_backend", lambda: backend)

    def steps(self, count: int, seconds: float, model: Model | None = None, comm: float = 0.0) -> None:
        for _ in range(count):
            self.now += seconds
            if model is not None:
                model.data = {"iteration": self.now, "backward_comm_time": int(comm * 1e9)}
            self.meter.stepped()


@pytest.fixture
def gloo(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench("gloo", monkeypatch)


def test_nothing_is_told_before_a_minute_is_over(gloo: Bench) -> None:
    model = Model()
    gloo.meter.add_model(model)
    gloo.steps(59, 1.0, model, 0.25)
    assert gloo.told == []
    gloo.steps(1, 1.0, model, 0.25)
    assert gloo.told == [{KIND: 1, SHARE: pytest.approx(0.25), SECONDS: pytest.approx(0.25)}]


def test_each_minute_stands_for_itself(gloo: Bench) -> None:
    model = Model()
    gloo.meter.add_model(model)
    gloo.steps(60, 1.0, model, 0.2)
    gloo.steps(60, 1.0, model, 0.4)
    assert [told[SECONDS] for told in gloo.told] == [pytest.approx(0.2), pytest.approx(0.4)]


def test_a_sample_counts_once_however_often_it_is_read(gloo: Bench) -> None:
    model = Model()
    gloo.meter.add_model(model)
    gloo.steps(1, 10.0, model, 0.9)
    gloo.steps(4, 10.0)
    gloo.steps(1, 10.0, model, 0.1)
    assert gloo.told[0][SECONDS] == pytest.approx(0.5)


def test_a_minute_without_a_sample_tells_nothing(gloo: Bench) -> None:
    gloo.meter.add_model(Model())
    gloo.steps(60, 1.0)
    assert gloo.told == []


def test_explicit_calls_are_added_where_they_block(gloo: Bench) -> None:
    model = Model()
    gloo.meter.add_model(model)
    reduce = gloo.meter.timed(lambda seconds: setattr(gloo, "now", gloo.now + seconds))
    for _ in range(60):
        reduce(0.1)
        gloo.steps(1, 0.9, model, 0.2)
    assert gloo.told == [{KIND: 3, SHARE: pytest.approx(0.3), SECONDS: pytest.approx(0.3)}]


def test_a_call_that_only_queues_work_tells_nothing_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench("nccl", monkeypatch)
    enqueue = bench.meter.timed(lambda: setattr(bench, "now", bench.now + 0.001))
    enqueue()
    bench.steps(60, 1.0)
    assert bench.told == []


def test_a_call_within_a_call_counts_once_and_a_failed_one_counts(gloo: Bench) -> None:
    def fail() -> None:
        gloo.now += 3.0
        raise ValueError("connection closed by peer")

    inner = gloo.meter.timed(fail)
    with pytest.raises(ValueError, match="connection closed by peer"):
        gloo.meter.timed(inner)()
    gloo.steps(57, 1.0)
    assert gloo.told == [{KIND: 2, SHARE: pytest.approx(3 / 60), SECONDS: pytest.approx(3 / 57)}]


@pytest.mark.parametrize(("step_seconds", "rate"), [(0.05, 100), (0.5, 20), (2.0, 5), (30.0, 1)])
def test_slow_steps_are_sampled_more_often(gloo: Bench, step_seconds: float, rate: int) -> None:
    model = Model()
    gloo.meter.add_model(model)
    gloo.steps(int(WINDOW_SECONDS / step_seconds) + 1, step_seconds, model, 0.01)
    assert model.rate == rate


def test_a_model_that_is_gone_is_forgotten(gloo: Bench) -> None:
    gloo.meter.add_model(Model())
    gloo.steps(60, 1.0)
    assert gloo.told == []


HOOKED = """
import time
from hedgerow import communication
communication.WINDOW_SECONDS = communication.READ_SECONDS = 0.05
from torch.distributed import all_reduce
from torch.nn.parallel import DistributedDataParallel
from torch.optim import SGD
model, optimizer = DistributedDataParallel(None), SGD()
for _ in range(10):
    model()
    assert all_reduce(0.01) == "reduced"
    optimizer.step()
"""


@pytest.mark.parametrize("torch", ["torch_1", "torch_2"])
@pytest.mark.parametrize("source", ["Auto", "Library", "Log"])
def test_models_and_calls_are_found_without_a_line_in_the_script(tmp_path: Path, torch: str, source: str) -> None:
    run_rank(tmp_path, HOOKED, path=(PACKAGES / torch,), HEDGEROW_HEARTBEAT_SOURCE=source)
    table = values.read((tmp_path / "heartbeat").read_bytes())
    assert table[KIND].number == 3
    assert 0.05 <= table[SECONDS].number < 0.2, "40 ms of the model and 10 ms of the call"
    assert table[SHARE].number > 0.9
