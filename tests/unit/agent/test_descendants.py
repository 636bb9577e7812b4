"""Ranks among processes, by real processes' variables."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow import kernel
from hedgerow.descendants import SETTLED_SECONDS, Descendants, RankPlace, topmost

SLEEP = "import sys; print('up', flush=True); sys.stdin.read()"
CHILD = (
    "import subprocess, sys\nsubprocess.run([sys.executable, '-c', \"import sys; print('up', flush=True); "
    'sys.stdin.read()"])'
)
TORCHRUN = {"LOCAL_RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "none"}


@contextmanager
def running(code: str, **variables: str) -> Iterator[int]:
    """A process with these variables and no others, once it is up."""
    child = subprocess.Popen([sys.executable, "-c", code], env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    yield child.pid
    child.communicate()


def below(pid: int) -> list[kernel.Process]:
    return kernel.tree(pid, kernel.processes())


def test_a_rank_is_known_by_the_variables_of_its_launcher() -> None:
    with running(SLEEP, RANK="3", **TORCHRUN) as pid:
        places = Descendants().places(below(pid), 0.0)
    assert places == {pid: RankPlace(3, world=4, local_world=2, launched=True, injected=False)}


def test_a_number_alone_makes_no_rank() -> None:
    with running(SLEEP, RANK="3") as pid:
        assert Descendants().places(below(pid), 0.0) == {}


def test_what_a_rank_has_started_is_no_rank() -> None:
    with running(CHILD, RANK="3", **TORCHRUN) as pid:
        table = kernel.processes()
        places = Descendants().places(kernel.tree(pid, table), 0.0)
        assert len(places) == 2
        assert [entry.pid for entry in topmost(places, table)] == [pid]


def test_what_a_process_was_forked_with_does_not_count_for_ever() -> None:
    """A forked process shows its parent's variables until it starts its own program."""
    read, write = os.pipe()
    code = (
        f"import os, sys\nprint('up', flush=True)\nos.read({read}, 1)\n"
        f"os.execve(sys.executable, [sys.executable, '-c', {SLEEP!r}], {{'RANK': '2', 'WORLD_SIZE': '4'}})"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        env={"RANK": "0", "WORLD_SIZE": "4"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[read],
    )
    assert child.stdout is not None
    child.stdout.readline()
    seen = Descendants()
    assert seen.places(below(child.pid), 0.0)[child.pid].rank == 0
    os.write(write, b".")
    child.stdout.readline()
    assert seen.places(below(child.pid), SETTLED_SECONDS / 2)[child.pid].rank == 2
    child.communicate()
    os.close(read)
    os.close(write)
