"""Which source counts for a rank, and what its numbers become in a report."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow import record
from hedgerow.communication_report import KIND, SECONDS, SHARE
from hedgerow.heartbeat import Writer
from hedgerow.log_progress import Seen
from hedgerow.log_reader import RankLog
from hedgerow.logs.observation import Observation
from hedgerow.rank_progress import RankProgress
from hedgerow.record import SOURCE_LIBRARY, SOURCE_TORCH
from hedgerow.wire import CommunicationReport


class Printed(RankLog):
    """Output that has been read already."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Seen] = []

    def print(self, step: int, **said: float) -> None:
        self.lines.append(Seen(time.monotonic_ns(), Observation("x", step=step, boundary=True, values=said)))

    def take(self) -> list[Seen]:
        taken, self.lines = self.lines, []
        return taken


class Bench:
    """A rank's file and output, and what its launcher makes of them."""

    def __init__(self, folder: Path, source: str) -> None:
        path = folder / "heartbeat"
        record.create(str(path))
        with path.open("r+b") as file:
            self.writer = Writer(mmap.mmap(file.fileno(), record.SIZE))
        self.log = Printed()
        self.told = RankProgress(str(path), self.log, source)

    def act(self, *acts: str) -> None:
        for number, act in enumerate(acts, start=1):
            if act == "line":
                self.log.print(100 + number)
            else:
                self.writer.beat(number, None, SOURCE_TORCH if act == "torch" else SOURCE_LIBRARY)


OpenBench = Callable[[str], Bench]


@pytest.fixture
def open_bench(tmp_path: Path) -> Iterator[OpenBench]:
    """A bench for a source, which is closed at the end."""
    with contextlib.ExitStack() as benches:

        def build(source: str) -> Bench:
            bench = Bench(tmp_path, source)
            benches.callback(bench.told.close)
            return bench

        yield build


CHOICES: dict[str, tuple[str, list[str], str | None]] = {
    "nothing yet": ("Auto", [], None),
    "one line may be chance": ("Auto", ["line"], None),
    "lines": ("Auto", ["line", "line"], "Log"),
    "one line where the log is asked for": ("Log", ["line"], "Log"),
    "beats come before lines": ("Auto", ["line", "line", "beat"], "Library"),
    "the torch hook comes before lines": ("Auto", ["line", "line", "torch"], "Torch"),
    "beats do not count where the log is asked for": ("Log", ["beat", "line"], "Log"),
    "beats alone where the log is asked for": ("Log", ["beat"], None),
}


@pytest.mark.parametrize(("source", "acts", "counts"), CHOICES.values(), ids=CHOICES.keys())
def test_the_source_that_counts(open_bench: OpenBench, source: str, acts: list[str], counts: str | None) -> None:
    bench = open_bench(source)
    bench.act(*acts)
    assert bench.told.look() is (counts is not None)
    assert bench.told.current.source == counts


def test_numbers_of_the_script_come_before_those_of_lines(open_bench: OpenBench) -> None:
    bench = open_bench("Auto")
    bench.log.print(1, loss=9.0, grad_norm=float("inf"))
    for name, value in {"loss": 2.0, "extra": float("nan"), SECONDS: 1.0}.items():
        bench.writer.values.note(name, value)
    bench.told.look()
    assert bench.told.numbers() == ({"loss": 2.0}, {"grad_norm": "Infinity", "extra": "NaN"})


@pytest.mark.parametrize(
    ("told", "source"),
    [({}, None), ({KIND: 1.0, SHARE: 0.3}, None), ({KIND: 3.0, SHARE: 0.3, SECONDS: 0.5}, "DDP+Calls")],
    ids=["nothing measured", "half written", "measured"],
)
def test_time_in_collectives_is_reported_once_measured(
    open_bench: OpenBench, told: dict[str, float], source: str | None
) -> None:
    bench = open_bench("Auto")
    for name, value in told.items():
        bench.writer.values.note(name, value)
    report: Any = bench.told.communication()
    if source is None:
        assert report is None
    else:
        assert report == CommunicationReport(0.5, 0.3, source, report.age)
        assert 0 <= report.age < 5


def test_a_rank_that_cuts_its_file_short_says_nothing_and_harms_nobody(open_bench: OpenBench, tmp_path: Path) -> None:
    bench = open_bench("Auto")
    bench.act("beat", "beat")
    assert bench.told.look()
    os.truncate(tmp_path / "heartbeat", 0)
    assert not bench.told.look()
    assert bench.told.numbers() == ({}, {})
    assert bench.told.communication() is None
    assert bench.told.current.step == 2, "what it said before still counts"


def test_what_is_overwritten_while_the_file_is_copied_is_not_believed(open_bench: OpenBench, tmp_path: Path) -> None:
    bench = open_bench("Auto")
    bench.act("beat", "beat", "beat")
    buffer = (tmp_path / "heartbeat").read_bytes()
    assert [boundary.step for boundary in record.read(buffer, 0, record.RING_LENGTH + 1).boundaries] == [3]
