"""The rank library and what is injected, in real processes, on the oldest and the newest Python that are here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.agent.rank_process import PACKAGES, run_rank, steps


def version(interpreter: str) -> tuple[int, int]:
    """(0, 0) for what cannot be started: a version manager offers names of versions that are not chosen."""
    code = "import sys; print(*sys.version_info[:2])"
    done = subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=False)
    major, minor = done.stdout.split() if done.returncode == 0 else ("0", "0")
    return int(major), int(minor)


def usable(interpreter: str) -> bool:
    return Path(interpreter).exists() and version(interpreter) >= (3, 7)


def interpreters() -> list[str]:
    """The current Python, and the oldest and newest from 3.7 on that are on the PATH or under pyenv."""
    found = [(minor, path) for minor in range(7, 16) if (path := shutil.which(f"python3.{minor}"))]
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False).stdout.strip()
        versions = [(path, re.match(r"3\.(\d+)", path.name)) for path in Path(root).glob("versions/3.*")]
        found += [(int(name[1]), str(path / "bin" / "python")) for path, name in versions if name]
    # Each that is asked is a process, in every worker of the run: only the outermost that can be started are.
    by_name = [path for _minor, path in sorted(found)]
    ends = [next(filter(usable, paths), sys.executable) for paths in (by_name, reversed(by_name))]
    return list(dict.fromkeys([sys.executable, *ends]))


INTERPRETERS = interpreters()


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=["this", "the oldest", "the newest"][: len(INTERPRETERS)])
def test_a_rank_beats_on_every_python(tmp_path: Path, interpreter: str) -> None:
    code = "import hedgerow\nfor step in (1, 2): hedgerow.beat(step=step)\nhedgerow.beat(phase='eval')"
    reading = run_rank(tmp_path, code, interpreter)
    assert [(b.step, b.phase) for b in reading.boundaries] == [(1, "step"), (2, "step"), (2, "eval")]


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=["this", "the oldest", "the newest"][: len(INTERPRETERS)])
def test_the_launcher_runs_on_every_python(tmp_path: Path, interpreter: str) -> None:
    code = "import hedgerow\nassert hedgerow.attempt() == 1\nhedgerow.beat(step=1)\nprint('trained')"
    nested = (
        "import subprocess, sys, hedgerow\n"
        f"code = {code!r}\n"
        "archive = hedgerow.__file__[: hedgerow.__file__.index('.pyz') + 4]\n"
        "done = subprocess.run([sys.executable, archive, 'run', '--', sys.executable, '-c', code],\n"
        "                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "assert done.returncode == 0, done.stderr.decode()\n"
        "assert done.stdout == b'trained\\n', done.stdout\n"
    )
    run_rank(tmp_path, nested, interpreter)


SCRIPTS = {
    "a forked helper of a rank does not write": (
        "import hedgerow, os\nhedgerow.beat(step=1)\npid = os.fork()\nhedgerow.beat(step=2 if pid else 99)\n"
        "os.waitpid(pid, 0) if pid else os._exit(0)",
        [1, 2],
    ),
    "a helper that was started anew does not write": (
        "import hedgerow, subprocess, sys\nhedgerow.beat(step=1)\n"
        "subprocess.check_call([sys.executable, '-c', 'import hedgerow; hedgerow.beat(step=99)'])\n"
        "hedgerow.beat(step=2)",
        [1, 2],
    ),
    "a script that a wrapper starts does write": (
        "import subprocess, sys\n"
        "subprocess.check_call([sys.executable, '-c', 'import hedgerow; hedgerow.beat(step=5)'])",
        [5],
    ),
    "a script that replaces itself goes on": (
        "import hedgerow, os, sys\nhedgerow.beat(step=1)\n"
        "os.execv(sys.executable, [sys.executable, '-c', 'import hedgerow; hedgerow.beat(step=2)'])",
        [1, 2],
    ),
    "nonsense never raises": (
        "import hedgerow\nhedgerow.beat(step='many')\nhedgerow.beat(step=2 ** 80)\nhedgerow.beat(phase=3)\n"
        "hedgerow.beat(step=4)",
        [4],
    ),
}


@pytest.mark.parametrize(("code", "expected"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_only_the_rank_itself_beats(tmp_path: Path, code: str, expected: list[int]) -> None:
    assert steps(run_rank(tmp_path, code)) == expected


def test_a_beat_outside_the_launcher_does_nothing(tmp_path: Path) -> None:
    code = (
        "import os\nos.environ.pop('HEDGEROW_HEARTBEAT')\n"
        "import hedgerow\nhedgerow.beat(step=1)\n"
        "assert (hedgerow.attempt(), hedgerow.resume_from()) == (0, None)"
    )
    assert run_rank(tmp_path, code).total == 0


def test_a_lost_heartbeat_file_is_our_trouble_only(tmp_path: Path) -> None:
    run_rank(tmp_path, "import hedgerow\nhedgerow.beat(step=1)", HEDGEROW_HEARTBEAT="/nowhere/heartbeat")


def test_the_users_own_start_up_code_still_runs(tmp_path: Path) -> None:
    code = "import builtins, sitecustomize\nassert builtins.theirs == 'ran'\nassert 'site/' in sitecustomize.__file__"
    run_rank(tmp_path, code, path=(PACKAGES / "site",))


def test_a_rank_can_register_a_handler_for_the_signals_that_training_uses(tmp_path: Path) -> None:
    code = (
        "import signal\n"
        "for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):\n"
        "    assert signal.getsignal(number) is signal.SIG_DFL"
    )
    run_rank(tmp_path, code, HEDGEROW_STACKS=str(tmp_path / "stacks"), HEDGEROW_STACKS_SIGNAL="43")


def test_the_training_side_needs_no_python_newer_than_3_7(root: Path) -> None:
    vermin = [
        sys.executable,
        "-c",
        "import vermin; vermin.main()",
        "-t=3.7-",
        "--no-tips",
        str(root / "agent" / "hedgerow"),
    ]
    done = subprocess.run(vermin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
