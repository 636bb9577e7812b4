"""NCCL Inspector's files, as version 4.0 writes them: samples of collectives, and what they tell of a minute."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from hedgerow.inspector import MOST_BYTES, RankInspector, inspector_folder

PID = 4711
BEGAN = 1_748_030_377.0


def line(
    second: float, number: int, micros: float, communicator: str = "0x7f8c496ae9f661", bus: object = 485.1
) -> str:
    fields = {
        "header": {"id": communicator, "rank": 2, "n_ranks": 8, "nnodes": 1},
        "metadata": {"inspector_output_format_version": "v4.0", "git_rev": "", "rec_mechanism": "profiler_plugin",
                     "dump_timestamp_us": int((BEGAN + second) * 1e6), "hostname": "example", "pid": PID},
        "coll_perf": {"coll": "AllReduce", "coll_sn": number, "coll_msg_size_bytes": 17179869184,
                      "coll_exec_time_us": micros, "coll_algobw_gbs": 277.2, "coll_busbw_gbs": bus},
    }
    return json.dumps(fields) + "\n"


def minute(count: int, micros: float, communicator: str = "0x1", begin: int = 0) -> str:
    """A dump every 10 s, each of the newest of ``count`` collectives a second."""
    return "".join(line(begin + at, (begin + at) * count, micros, communicator) for at in range(0, 61, 10))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / f"{socket.gethostname()}-pid{PID}.log"


def shares(log: Path, *parts: str) -> list[float | None]:
    """The share after each part of the file was written."""
    inspector, found = RankInspector(str(log.parent)), []
    for part in parts:
        with log.open("a") as file:
            file.write(part)
        inspector.look(PID, 1.0)
        found.append(inspector.share)
    return found


FILES: dict[str, tuple[list[str], list[float | None]]] = {
    "less than a minute": ([line(0, 0, 5000) + line(50, 500, 5000)], [None]),
    "ten collectives of 20 ms a second": ([minute(10, 20_000)], [0.2]),
    "two communicators": ([minute(10, 20_000) + minute(5, 20_000, "0x2")], [0.3]),
    "two minutes, the second slower": ([minute(10, 20_000), minute(10, 30_000, begin=61)], [0.2, 0.3]),
    "a line that comes in two pieces": ([minute(10, 20_000)[:-40], minute(10, 20_000)[-40:]], [None, 0.2]),
    "garbage between": (["\x00{[}\n" + '{"coll_perf": 7}\n[]\n' + minute(10, 20_000)], [0.2]),
    "numbers beyond all bounds": ([minute(10, 20_000) + line(60, 600, 1e300)], [0.2]),
    "more at once than is read": (["x" * MOST_BYTES + "\n" + minute(10, 20_000)], [0.2]),
    "communicators that overlap all the time": ([minute(100, 20_000)], [1.0]),
}


@pytest.mark.parametrize("case", FILES)
def test_the_share_of_a_minute_in(case: str, log: Path) -> None:
    parts, expected = FILES[case]
    assert shares(log, *parts) == [None if share is None else pytest.approx(share, rel=0.05) for share in expected]


# Ten seconds apart: microseconds and bus bandwidth of each sample. What each minute comes to.
BANDWIDTHS: dict[str, tuple[list[tuple[float, object]], float | None]] = {
    "all alike": ([(20_000, 485.1)] * 7, 485.1),
    "small ones say little, as they take no time": ([(20_000, 400.0), (20.0, 1.0)] * 4, 399.6),
    "one that is no number is left out": ([(20_000, 400.0), (20_000, "fast"), (20_000, None)] * 3, 400.0),
    "nor one beyond all bounds": ([(20_000, 400.0), (20_000, 1e300), (20_000, -5.0)] * 3, 400.0),
    "an Inspector that does not tell it": ([(20_000, None)] * 7, None),
}


@pytest.mark.parametrize("case", BANDWIDTHS)
def test_the_bus_bandwidth_of_a_minute(case: str, log: Path) -> None:
    samples, expected = BANDWIDTHS[case]
    written = [line(at * 10, at, micros, bus=bus) for at, (micros, bus) in enumerate(samples)]
    log.write_text("".join(written))
    inspector = RankInspector(str(log.parent))
    inspector.look(PID, 1.0)
    assert inspector.bus == (None if expected is None else pytest.approx(expected, rel=0.001))


def test_each_minute_has_its_own_bandwidth(log: Path) -> None:
    inspector, found = RankInspector(str(log.parent)), []
    for begin, bus in ((0, 400.0), (61, 100.0)):
        with log.open("a") as file:
            file.write("".join(line(begin + at, begin + at, 20_000, bus=bus) for at in range(0, 61, 10)))
        inspector.look(PID, 1.0)
        found.append(inspector.bus)
    assert found == [pytest.approx(400.0), pytest.approx(100.0)]


def test_another_process_has_another_file(log: Path) -> None:
    log.write_text(minute(10, 20_000))
    inspector = RankInspector(str(log.parent))
    inspector.look(PID + 1, 1.0)
    assert inspector.share is None


def test_a_pipe_in_place_of_the_file_holds_nobody(log: Path) -> None:
    os.mkfifo(log)
    inspector = RankInspector(str(log.parent))
    inspector.look(PID, 1.0)
    assert inspector.share is None


ON = {"NCCL_INSPECTOR_ENABLE": "1"}


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, None),
        ({**ON, "NCCL_INSPECTOR_DUMP_DIR": "/logs/7"}, "/logs/7"),
        ({**ON, "SLURM_JOBID": "7"}, "nccl-inspector-7"),
        (ON, "nccl-inspector-unknown-jobid"),
        ({**ON, "NCCL_INSPECTOR_DUMP_DIR": "/logs/7", "NCCL_INSPECTOR_PROM_DUMP": "1"}, None),
        ({"NCCL_INSPECTOR_ENABLE": "0", "NCCL_INSPECTOR_DUMP_DIR": "/logs/7"}, None),
    ],
)
def test_where_it_writes(variables: dict[str, str], folder: str | None) -> None:
    assert inspector_folder(variables) == folder
