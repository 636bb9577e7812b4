"""The task that speaks for its node knows the others, and names those that are not there."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from hedgerow.options import Options, UsageError
from hedgerow.slurm import address, channel, tasks
from hedgerow.slurm.step import Step


def options(name: str) -> Options:
    return Options(("train",), nproc=3, step=Step(name, "n1", 0, 1, 0, 0, (3,)))


@pytest.fixture
def place() -> Options:
    return options(f"{os.getpid()}.0")


@pytest.fixture
def speaker(place: Options) -> Iterator[tasks.Tasks]:
    found = tasks.Tasks(place)
    found.begin(lambda _pid, _status: None)
    yield found
    found.finish(0, ())


def come(place: Options, local: int, variables: dict[str, str]) -> channel.Channel:
    other = channel.connect(address.meeting_place(place))
    other.send({"local": local, "variables": variables}, (1, 2))
    return other


def test_tasks_that_are_late_are_named(speaker: tasks.Tasks, place: Options, capfd: Any) -> None:
    other = come(place, 1, {"X": "1"})
    speaker.gather(lambda: bool(speaker.pids), 20)
    assert speaker.variables(1)["X"] == "1"
    with pytest.raises(OSError, match=r"task 2 of this node \(rank 2\) has not come"):
        speaker.variables(2)
    other.close()


def test_whom_it_waits_for_is_told(speaker: tasks.Tasks, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setattr(tasks, "_TELL_SECONDS", 0.1)
    speaker.gather(lambda: False, 0.3)
    assert capfd.readouterr().err == "hedgerow: task 1, 2 of this node has not come yet\n"


def test_only_one_speaks_for_a_node_of_a_step(
    speaker: tasks.Tasks, place: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_ADDRESS_SECONDS", 0.1)
    with pytest.raises(UsageError, match="another launcher speaks for this node of step"):
        tasks.Tasks(place)


def test_noise_is_no_task(speaker: tasks.Tasks, place: Options) -> None:
    for noise in (b"", b"GET / HTTP/1.0\r\n\r\n", b"\0" * 8, b"\xff" * 8, b"\0\0\0\0\0\0\0\2{}"):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect("\0" + address.meeting_place(place))
            sock.sendall(noise)
    speaker.gather(lambda: False, 0.2)
    assert speaker.pids == []


def test_variables_of_any_bytes_and_size_arrive(speaker: tasks.Tasks, place: Options) -> None:
    odd = {"ODD": os.fsdecode(b"\xff\xfe"), "LARGE": "x" * 2_000_000}
    other = come(place, 1, odd)
    speaker.gather(lambda: bool(speaker.pids), 20)
    assert speaker.variables(1) == odd
    other.close()
