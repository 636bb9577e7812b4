"""`make test` runs the cluster's tests beside the others; it tells how each ended, and nothing of it outlives it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SECONDS = 60.0
# Both parts are scripts here; everything else is as `make test` has it.
RUNNER = """
import os, pathlib, sys, tempfile
sys.path.insert(0, "tools")
import run_tests
folder = tempfile.TemporaryDirectory()
os.environ["CACHE"] = folder.name
run_tests.cache = lambda part: pathlib.Path(folder.name, part.cluster or "others")
scripts = dict(zip(("", "cluster", "slurm"), sys.argv[1:]))
run_tests.command = lambda part, processors: [sys.executable, "-c", scripts[part.cluster]]
wanted = [run_tests.Part([f"tests/{name or 'unit'}"], name) for name in scripts]
sys.exit(0 if run_tests.run_all(wanted, prepared=lambda cluster: True) else 1)
"""
PASSES = "print('calm')"
FAILS = "print('broken'); raise SystemExit(1)"
MEETS = """
import pathlib, time
pathlib.Path({mine!r}).touch()
deadline = time.monotonic() + 100
while not pathlib.Path({other!r}).exists():
    assert time.monotonic() < deadline, "it ran alone"
    time.sleep(0.02)
print({mine!r})
"""
# Like pytest when some tests have failed, the first time.
CROWDED = """
import json, os, pathlib
noted = pathlib.Path(os.environ["CACHE"], "others", "v", "cache", "lastfailed")
if noted.parent.exists():
    raise SystemExit({again})
noted.parent.mkdir(parents=True)
noted.write_text(json.dumps(dict.fromkeys({tests}, True)))
raise SystemExit({code})
"""
WAITS = """
import os, pathlib, time
try:
    pathlib.Path({folder!r}, str(os.getpid())).touch()
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)
    print("cleaned up", flush=True)
"""


def start(root: Path, *scripts: str) -> "subprocess.Popen[str]":
    """The parts under way, in a process group of their own."""
    command = [sys.executable, "-c", RUNNER, *scripts]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, process_group=0)


def until(holds: Callable[[], bool]) -> None:
    """Wait with a deadline."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def waiting(root: Path, tmp_path: Path) -> "tuple[subprocess.Popen[str], list[int]]":
    """Two parts that wait, and their processes."""
    script = WAITS.format(folder=str(tmp_path))
    runner = start(root, script, script)
    until(lambda: len(list(tmp_path.iterdir())) == 2)
    return runner, [int(path.name) for path in tmp_path.iterdir()]


def test_both_parts_run_at_the_same_time_and_are_shown_one_after_the_other(root: Path, tmp_path: Path) -> None:
    others, cluster = str(tmp_path / "others"), str(tmp_path / "cluster")
    runner = start(root, MEETS.format(mine=others, other=cluster), MEETS.format(mine=cluster, other=others))
    output, _ = runner.communicate(timeout=SECONDS)
    shown = [line.split(" in ")[0] for line in output.splitlines() if line]
    assert (runner.returncode, shown) == (0, [others, "passed", cluster, "passed"])


def test_of_two_clusters_the_second_begins_when_the_first_has_ended(root: Path, tmp_path: Path) -> None:
    mark = tmp_path / "first"
    first = f"import pathlib, time; time.sleep(0.5); pathlib.Path({str(mark)!r}).touch()"
    second = f"import pathlib; assert pathlib.Path({str(mark)!r}).exists()"
    runner = start(root, PASSES, first, second)
    runner.communicate(timeout=SECONDS)
    assert runner.returncode == 0


def test_after_ctrl_c_no_part_begins_any_more(root: Path, tmp_path: Path) -> None:
    waits, second = WAITS.format(folder=str(tmp_path)), tmp_path / "second"
    runner = start(root, PASSES, waits, f"import pathlib; pathlib.Path({str(second)!r}).touch()")
    until(lambda: len(list(tmp_path.iterdir())) == 1)
    os.killpg(runner.pid, signal.SIGINT)
    runner.communicate(timeout=SECONDS)
    assert (runner.returncode, second.exists()) == (1, False)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(FAILS, PASSES, id="the other tests"),
        pytest.param(PASSES, FAILS, id="the tests of the cluster"),
    ],
)
def test_what_fails_is_told_and_the_other_part_runs_to_its_end(root: Path, first: str, second: str) -> None:
    runner = start(root, first, second)
    output, _ = runner.communicate(timeout=SECONDS)
    assert runner.returncode == 1
    assert [line.split(" in ")[0] for line in output.splitlines() if line] == [
        word for script in (first, second) for word in (("broken", "FAILED") if script == FAILS else ("calm", "passed"))
    ]


FAILURES = {
    "alone it passes": (["t::a", "t::b"], 1, 0, "To be mended", 0),
    "alone it fails too": (["t::a"], 1, 1, "Once more", 1),
    "it was more than tests": (["t::a"], 2, 0, "FAILED", 1),
    "so many have another cause": ([f"t::{number}" for number in range(6)], 1, 0, "FAILED", 1),
}


@pytest.mark.parametrize(("tests", "code", "again", "said", "ended"), FAILURES.values(), ids=FAILURES.keys())
def test_a_few_tests_that_failed_beside_others_run_once_more_alone(
    root: Path, tests: list[str], code: int, again: int, said: str, ended: int
) -> None:
    runner = start(root, CROWDED.format(tests=tests, code=code, again=again), PASSES)
    output, _ = runner.communicate(timeout=SECONDS)
    assert runner.returncode == ended
    assert said in output
    assert ("Once more" in output) == (code == 1 and len(tests) <= 5)


def test_a_part_that_runs_by_itself_runs_once(root: Path) -> None:
    runner = start(root, CROWDED.format(tests=["t::a"], code=1, again=0))
    output, _ = runner.communicate(timeout=SECONDS)
    assert (runner.returncode, "Once more" in output) == (1, False)


def test_an_interrupt_from_the_terminal_lets_both_parts_clean_up(
    waiting: "tuple[subprocess.Popen[str], list[int]]",
) -> None:
    runner, _ = waiting
    os.killpg(runner.pid, signal.SIGINT)
    output, _ = runner.communicate(timeout=SECONDS)
    assert output.count("cleaned up") == 2


def test_a_run_that_is_killed_takes_both_parts_along(waiting: "tuple[subprocess.Popen[str], list[int]]") -> None:
    runner, processes = waiting
    runner.kill()
    runner.communicate(timeout=SECONDS)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))
