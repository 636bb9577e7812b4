"""Files that mean no good cost their own step only: the look ends, and the others are judged as ever."""

from __future__ import annotations

import io
import os
import struct
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hedgerow import checkpoints
from hedgerow.checkpoints import contents
from hedgerow.checkpoints.reader import LOOKED_AT, Reader
from hedgerow.regular_file import MOST_AT_ONCE
from hedgerow.scanner import Scanner
from hedgerow.wire import CHECKPOINT_COMPLETE, CHECKPOINT_INVALID, CHECKPOINT_NOT_VERIFIED, CheckpointScan
from tests.unit.agent.checkpoint_trees import archive, safetensors, torn, write_tree

WHOLE, BAD, UNKNOWN = CHECKPOINT_COMPLETE, CHECKPOINT_INVALID, CHECKPOINT_NOT_VERIFIED
ZEROS = "/dev/zero"
Make = Callable[[Path], object]


def header(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def offsets(end: str) -> bytes:
    return header(f'{{"w": {{"data_offsets": [0, {end}]}}}}')


def file(name: str, data: bytes) -> Make:
    return lambda folder: (folder / name).write_bytes(data)


def trainer(name: str, make: Callable[[Path], object]) -> Make:
    """A Trainer folder for step 20 in which one file is made otherwise."""

    def build(folder: Path) -> None:
        write_tree(folder / "checkpoint-20", {"model.safetensors": safetensors(), STATE: b"{}"})
        (folder / "checkpoint-20" / name).unlink(missing_ok=True)
        make(folder / "checkpoint-20" / name)

    return build


def long_header(folder: Path) -> None:
    with (folder / "step-20.safetensors").open("wb") as target:
        target.write(struct.pack("<Q", MOST_AT_ONCE + 1))
        target.truncate(3 * MOST_AT_ONCE)


def long_directory(folder: Path) -> None:
    """The end of an archive says that its directory is 1 GiB long."""
    with (folder / "step-20.pt").open("wb") as target:
        target.write(b"PK\x03\x04")
        target.seek(1 << 30)
        target.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, (1 << 30) - 100, 100, 0))


DEEP = b"[" * 20_000
STATE, INDEX = "trainer_state.json", "model.safetensors.index.json"
CASES: dict[str, tuple[Make, str]] = {
    "an offset that is no number": (file("step-20.safetensors", offsets("NaN")), BAD),
    "an offset without end": (file("step-20.safetensors", offsets("1e400")), BAD),
    "an offset with 5000 digits": (file("step-20.safetensors", offsets("9" * 5000)), BAD),
    "a deep header": (file("step-20.safetensors", header("[" * 20_000)), UNKNOWN),
    "a header that is too long to be read": (long_header, UNKNOWN),
    "an archive whose directory is too long to be read": (long_directory, UNKNOWN),
    "a state that is a pipe": (trainer(STATE, os.mkfifo), UNKNOWN),
    "a state that is an endless device": (trainer(STATE, lambda path: path.symlink_to(ZEROS)), UNKNOWN),
    "a deep state": (trainer(STATE, lambda path: path.write_bytes(DEEP)), UNKNOWN),
    "an index that is a pipe": (trainer(INDEX, os.mkfifo), UNKNOWN),
    "a deep index": (trainer(INDEX, lambda path: path.write_bytes(DEEP)), UNKNOWN),
    "an index of names that are none": (
        trainer(INDEX, lambda path: path.write_text('{"weight_map": {"a": 1, "b": "x", "c": null}}')),
        UNKNOWN,
    ),
}


@pytest.mark.parametrize(("make", "expected"), CASES.values(), ids=CASES.keys())
def test_an_odd_file_costs_its_own_step_only(tmp_path: Path, make: Make, expected: str) -> None:
    write_tree(tmp_path, {"step-10.pt": archive()})
    make(tmp_path)
    found = checkpoints.scan(str(tmp_path))
    assert found.error is None
    assert [(c.step, c.validity) for c in found.candidates] == [(20, expected), (10, WHOLE)]
    assert 0 < len(found.candidates[0].reason) <= 300


def test_an_archive_that_unpacks_to_very_much_is_judged_by_its_structure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("weights.npy", bytes(contents.UNPACKED_BYTES + 1))
    (tmp_path / "step-10.npz").write_bytes(stream.getvalue())
    monkeypatch.setattr(zipfile.ZipFile, "testzip", lambda _: pytest.fail("it was unpacked"))
    assert checkpoints.scan(str(tmp_path)).candidates[0].validity == WHOLE


NAMES = {"huge": "model_" + "9" * 60, "a raised digit": "\u00b2", "no UTF-8": "model_5\udcff.pt"}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_name_that_no_report_can_carry_is_no_step(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {"step-10.pt": archive(), name: archive()})
    assert [c.step for c in checkpoints.scan(str(tmp_path)).candidates] == [10]


def test_a_quiet_look_finds_what_lies_behind_many_unusable_steps(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"step-{n}.pt": torn(archive()) for n in range(2, LOOKED_AT + 20)})
    write_tree(tmp_path, {"step-1.pt": archive()})
    assert checkpoints.scan(str(tmp_path)).candidates[-1].validity == WHOLE


def test_a_time_that_no_calendar_knows_is_told_as_the_latest(tmp_path: Path) -> None:
    write_tree(tmp_path, {"step-10.pt": archive()})
    os.utime(tmp_path / "step-10.pt", (-5, -5))
    assert checkpoints.scan(str(tmp_path)).candidates[0].written == 0.0


def test_a_look_that_fails_is_told_and_the_next_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[CheckpointScan] = []

    def scan(_reader: Reader, quiet: bool) -> CheckpointScan:
        if not looks:
            raise MemoryError
        return CheckpointScan(quiet=quiet)

    monkeypatch.setattr(Reader, "scan", scan)
    scanner = Scanner("/somewhere", "Content", looks.append)
    scanner.start()
    for number in (1, 2):
        scanner.look(True, number)
        deadline = time.monotonic() + 60
        while len(looks) < number and time.monotonic() < deadline:
            threading.Event().wait(0.01)
    assert looks[0].error == "/somewhere cannot be looked at: MemoryError()"
    assert looks[1] == CheckpointScan(quiet=True, attempt=2)
