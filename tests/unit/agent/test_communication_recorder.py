"""Time in NCCL's collectives by torch's flight recorder: entries as torch writes them, and a process without one."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow import communication
from hedgerow.communication import Meter
from hedgerow.communication_recorder import RecorderTimes
from hedgerow.communication_report import KIND, KIND_RECORDER, SECONDS, SHARE

SECOND = 1_000_000_000


def entry(created: float, **fields: Any) -> dict[str, Any]:
    return {"time_created_ns": int(created * SECOND), "state": "completed", **fields}


def timed(created: float, millis: float) -> dict[str, Any]:
    return entry(created, duration_ms=millis)


def found(created: float, seconds: float) -> dict[str, Any]:
    started = int(created * SECOND)
    return entry(created, time_discovered_started_ns=started,
                 time_discovered_completed_ns=started + int(seconds * SECOND), duration_ms=None)


# Each: what the recorder held at the first and at the second look a minute later, and the share at the second.
LOOKS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], float | None]] = {
    "timed collectives": ([timed(100, 50)], [timed(100, 50), timed(130, 6000), timed(150, 6000)], 0.2),
    "collectives that the watchdog found": ([found(100, 1)], [found(100, 1), found(130, 3)], 0.05),
    "a recorder that has forgotten the first of them": (
        [timed(100, 50)], [timed(140, 500), timed(145, 500), timed(150, 500)], 0.15),
    "one that is not complete yet": ([timed(100, 50)], [timed(100, 50), timed(130, 6000), entry(159)], 0.1),
    "nothing new": ([timed(100, 50)], [timed(100, 50)], None),
    "collectives that overlap all the time": (
        [timed(100, 50)], [timed(100, 50), timed(101, 60e3), timed(102, 60e3)], 1.0),
    "no time is told": ([], [{"state": "completed"}], None),
}


@pytest.mark.parametrize("case", LOOKS)
def test_the_share_of(case: str) -> None:
    first, second, share = LOOKS[case]
    looks = iter([first, second])
    times = RecorderTimes(lambda: next(looks))
    times.share(60.0)
    assert times.share(60.0) == (None if share is None else pytest.approx(share))


class Clocked:
    """A meter of a job on NCCL, minute by minute."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: RecorderTimes) -> None:
        self.now, self.told = 100.0, list[dict[str, float]]()
        monkeypatch.setattr(communication, "_backend", lambda: "cuda:nccl,cpu:gloo")
        self.meter = Meter(lambda **told: self.told.append(told), lambda: self.now, times)

    def minute(self) -> None:
        for _ in range(60):
            self.now += 1.0
            self.meter.stepped()


def test_where_ddp_tells_nothing_the_recorder_is_read_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [timed(99, 1)]
    job = Clocked(monkeypatch, RecorderTimes(lambda: list(held)))
    job.minute()
    held.append(timed(150, 15_000))
    job.minute()
    assert job.told == [{KIND: KIND_RECORDER, SHARE: pytest.approx(0.25), SECONDS: pytest.approx(0.25)}]


def test_a_torch_without_a_recorder_tells_nothing_and_costs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Clocked(monkeypatch, RecorderTimes())
    job.minute()
    assert job.told == []
