"""A rank can do anything to the file of its stacks: its launcher neither waits nor reads without end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hedgerow import stacks
from hedgerow.stacks import TAIL_BYTES, StackSampler

SAMPLE = b'Current thread 0x01 (most recent call first):\n  File "train.py", line 3 in step\n'
HANDLES = f"""
import signal
signal.signal({stacks.STACKS_SIGNAL}, lambda *_: None)
print(flush=True)
while True: signal.pause()
"""


@pytest.fixture
def rank() -> Iterator[int]:
    """The pid of a process that takes the signal."""
    with subprocess.Popen([sys.executable, "-c", HANDLES], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.send_signal(signal.SIGKILL)


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 64 << 30)
    with path.open("ab") as file:
        file.write(SAMPLE)


def _elsewhere(path: Path) -> Path:
    other = path.with_name("other")
    other.write_bytes(SAMPLE)
    return other


FILES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "a sample": (lambda path: path.write_bytes(SAMPLE), True),
    "a sample behind 64 GiB of nothing": (_huge, True),
    "a pipe": (os.mkfifo, False),
    "a link to somebody else's file": (lambda path: path.symlink_to(_elsewhere(path)), False),
    "an endless device": (lambda path: path.symlink_to("/dev/zero"), False),
}


@pytest.mark.parametrize(("make", "read"), FILES.values(), ids=FILES.keys())
def test_what_a_file_of_stacks_brings(tmp_path: Path, rank: int, make: Callable[[Path], object], read: bool) -> None:
    path = tmp_path / "stacks"
    make(path)
    sampler = StackSampler(str(path))
    sampler.ask(rank)
    assert sampler.collect(1.0) is read
    assert sampler.newest == (SAMPLE.decode().strip() if read else None)
    assert sampler.bytes_seen <= (TAIL_BYTES if read else 0), "what is not ours is no I/O of ours"
    other = tmp_path / "other"
    assert not other.exists() or other.read_bytes() == SAMPLE
    assert not read or path.stat().st_size == 0, "what was read is gone"
