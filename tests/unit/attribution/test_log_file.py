"""Logs of any size and with anything in them: found lines keep their numbers, memory stays small."""

import random
import tracemalloc
from pathlib import Path

import pytest

from hedgerow_operator.adapters.dumps.log_file import read_log
from tests.unit.attribution.reading import traceback, watchdog

STEP = "iteration 7/ 100 | elapsed time per iteration (ms): 105.9 | lm loss: 2.3\n"


def found(log: Path, data: bytes) -> list[tuple[str, int | None, int]]:
    log.write_bytes(data)
    return [(event.kind.value, event.rank, event.line) for event in read_log(log)[0]]


def test_a_failure_far_inside_keeps_the_number_of_its_line(tmp_path: Path) -> None:
    data = STEP * 50_000 + watchdog(3, 900) + STEP * 50_000 + traceback("KeyError: 'x'", "[rank1]: ")

    assert found(tmp_path / "log", data.encode()) == [("WatchdogTimeout", 3, 50_001), ("Exception", 1, 100_005)]


@pytest.mark.parametrize("before", range(5))
def test_no_place_in_the_file_hides_a_failure(before: int, tmp_path: Path) -> None:
    """Its line lies over the border of two blocks that are read."""
    padding = ("x" * 99 + "\n") * 2621 + "y" * (before * 37) + "\n"

    assert found(tmp_path / "log", (padding + watchdog(3, 900)).encode()) == [("WatchdogTimeout", 3, 2623)]


def test_line_ends_of_windows_and_progress_bars_count_as_one_line(tmp_path: Path) -> None:
    data = "step 1\r\n" * 3 + "10%\r20%\r30%\r" + watchdog(3, 900).replace("\n", "\r\n")

    assert found(tmp_path / "log", data.encode()) == [("WatchdogTimeout", 3, 4)]


def test_garbage_between_the_lines_hides_nothing(tmp_path: Path) -> None:
    chance = random.Random(5)
    garbage = bytes(byte for byte in chance.randbytes(200_000) if byte not in b"\n")

    data = garbage + b"\n" + watchdog(3, 900).encode() + garbage + b"\n" + watchdog(4, 900).encode()

    assert found(tmp_path / "log", data) == [("WatchdogTimeout", 3, 2), ("WatchdogTimeout", 4, 4)]


def test_a_failure_in_the_last_line_without_an_end_is_found(tmp_path: Path) -> None:
    assert found(tmp_path / "log", (STEP + watchdog(3, 900).rstrip()).encode()) == [("WatchdogTimeout", 3, 2)]


@pytest.mark.parametrize(
    "line", [STEP, "error: 0.1\n", "\0" * 1000, "x" * 1000], ids=["steps", "errors", "zeros", "one line"]
)
def test_memory_does_not_grow_with_the_file(line: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(line.encode() * (10_000_000 // len(line) if line != "error: 0.1\n" else 20_000))

    tracemalloc.start()
    try:
        read_log(log)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_storm_of_different_failures_is_counted_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow_operator.core.attribution.log.collector.MAX_EVENTS", 10)
    log = tmp_path / "log"
    log.write_text("".join(watchdog(rank, 900) for rank in range(25)))

    events, omitted = read_log(log)

    assert (len(events), omitted) == (10, 15)


def test_what_is_quoted_does_not_steer_a_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\x1b[31m" + watchdog(3, 900).rstrip() + "\x1b]0;title\x07\x1b[0m\n")

    (event,) = read_log(log)[0]

    assert event.text.isprintable()
    assert event.text.startswith("[rank3]:[E1016")
