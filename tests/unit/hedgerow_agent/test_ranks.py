"""Processes on a GPU are known as ranks by their own environment, and nothing else of it is read out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow.plain import plain
from hedgerow_agent.devices.base import Process
from hedgerow_agent.ranks import Ranks
from tests.unit.hedgerow_agent.node import Node
from tests.unit.hedgerow_agent.polling import until

ENVIRONMENT = {
    "HEDGEROW_JOB_UID": "uid-1", "RANK": "5", "HEDGEROW_ATTEMPT": "2", "CUDA_VISIBLE_DEVICES": "GPU-1,GPU-2",
    "AWS_SECRET_ACCESS_KEY": "hunter2",
}  # fmt: skip


@pytest.fixture
def rank() -> "subprocess.Popen[bytes]":
    """A process like a rank."""
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=ENVIRONMENT)


def test_a_rank_is_found_by_its_environment(rank: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    with rank:
        content = {"gpus": [{"profile": "a100", "processes": [{"pid": rank.pid, "memory_bytes": 7}]}]}
        report = Node(tmp_path, content).report()
        assert report.gpus[0].processes is not None
        (found,) = report.gpus[0].processes
        assert (found.pid, found.memory_bytes, found.container_pid) == (rank.pid, 7, rank.pid)
        assert (found.job, found.rank, found.attempt, found.devices) == ("uid-1", 5, 2, "GPU-1,GPU-2")
        assert "hunter2" not in json.dumps(plain(report))
        rank.kill()


def test_fake_gpus_carry_the_ranks_that_really_run_here(tmp_path: Path) -> None:
    waits = "import os, sys; os.fork(); sys.stdin.read()"
    pipe = subprocess.PIPE
    words = [{**ENVIRONMENT, "RANK": str(rank), "LOCAL_RANK": str(rank - 4)} for rank in (4, 5)]
    ranks = [subprocess.Popen([sys.executable, "-c", waits], stdin=pipe, env=one) for one in words]
    try:
        node = Node(tmp_path, {"gpus": [{"profile": "a100", "count": 2, "processes": "ranks"}]})

        def found() -> list[list[tuple[int, int | None]]]:
            node.looks(10)
            return [
                [(one.pid, one.rank) for one in gpu.processes or [] if one.job == "uid-1"] for gpu in node.report().gpus
            ]

        assert until(lambda: all(found()) and found()) == [[(ranks[0].pid, 4)], [(ranks[1].pid, 5)]]
    finally:
        for rank in ranks:
            assert rank.stdin is not None
            rank.stdin.close()
            rank.wait()


def test_a_process_that_may_not_be_read_or_is_gone_is_known_by_its_pid_alone(tmp_path: Path) -> None:
    found = Ranks(str(tmp_path)).of(Process(4321, 7))
    assert (found.pid, found.memory_bytes, found.container_pid, found.job, found.rank) == (4321, 7, None, "", None)


def test_words_that_are_no_numbers_are_absent(tmp_path: Path) -> None:
    place = tmp_path / "proc" / "7"
    place.mkdir(parents=True)
    (place / "stat").write_text("7 (a) b) S " + " ".join(["0"] * 40))
    (place / "status").write_text("Name:\tx\nNSpid:\t7\t1\n")
    (place / "environ").write_bytes(b"RANK=first\0HEDGEROW_ATTEMPT=-1\0CUDA_VISIBLE_DEVICES=\0")
    found = Ranks(str(tmp_path)).of(Process(7))
    assert (found.container_pid, found.rank, found.attempt, found.devices) == (1, None, None, "")


def test_of_many_processes_only_some_are_remembered() -> None:
    ranks = Ranks("")
    for _ in range(3):
        assert ranks.of(Process(os.getpid())).container_pid is not None
    assert len(ranks._remembered) == 1
