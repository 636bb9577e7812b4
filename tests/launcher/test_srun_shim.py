"""A script that calls srun gets the launcher before its program, wherever PATH leads, and nothing else changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hedgerow.slurm.shim_files import shim_environment, write_shim
from tests.launcher.launching import alive, wait_until

# Stands for Slurm's own: says what it was called with.
REAL = f"""#!{sys.executable} -E
import json, os, sys
if sys.argv[1:] == ["--help"]:
    print("      --site-speed=value      a plugin's")
    sys.exit(0)
print(json.dumps([sys.argv[1:], os.getpid(), sorted(name for name in os.environ if name.startswith("HEDGEROW"))]))
sys.exit(9)
"""
WAITS = f"""#!{sys.executable}
import os, signal, sys, time
def leave(number, _frame):
    print("signal", number, flush=True)
    sys.exit(33)
signal.signal(signal.SIGUSR1, leave)
signal.signal(signal.SIGTERM, leave)
print("up", flush=True)
for _ in range(600):  # a signal that comes just before one long sleep would be heard after it
    time.sleep(0.1)
"""


class Site:
    """A machine with Slurm: a folder with its srun, ours, and scripts."""

    def __init__(self, folder: Path, archive: Path) -> None:
        self.folder = folder
        self.slurm = self.program("slurm/srun", REAL).parent
        self.archive = archive
        self.shim = folder / "shim"
        write_shim(str(self.shim), sys.executable, str(archive))

    def program(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def environment(self, **more: str) -> dict[str, str]:
        given = {name: value for name, value in os.environ.items() if not name.startswith(("HEDGEROW", "SLURM"))}
        given.update(PATH=f"{self.slurm}:/usr/bin:/bin", SLURM_JOB_ID="7", HEDGEROW_ADDRESS_FILE="/a/address")
        given.update(more)
        return shim_environment(given, str(self.shim))

    def run(
        self, script: str, shell: tuple[str, ...] = ("bash", "-c"), **more: str
    ) -> subprocess.CompletedProcess[str]:
        words = [*shell, script]
        return subprocess.run(
            words, env=self.environment(**more), capture_output=True, text=True, timeout=60, check=False
        )

    def called_with(self, script: str, shell: tuple[str, ...] = ("bash", "-c"), **more: str) -> list[str]:
        done = self.run(script, shell, **more)
        assert done.returncode == 9, done.stderr
        words: list[str] = json.loads(done.stdout)[0]
        return words

    def launcher(self) -> list[str]:
        return [sys.executable, "-E", str(self.archive), "run", "--slurm-launch", "auto", "--"]


@pytest.fixture
def site(tmp_path: Path, archive: Path) -> Site:
    return Site(tmp_path, archive)


def test_the_launcher_is_put_before_the_program(site: Site) -> None:
    words = site.called_with("srun -N2 --mpi=pmi2 python train.py -n 3 'a b'")
    *launcher, end = site.launcher()
    program = ["python", "train.py", "-n", "3", "a b"]
    assert words == ["--unbuffered", "-N2", "--mpi=pmi2", *launcher, "--mpi", "pmi2", end, *program]


CONDA = """
# As `conda activate` does it: a folder of the environment before all, and others moved.
export PATH="$CONDA/bin:$PATH"
export CONDA_PREFIX="$CONDA" PYTHONPATH=/nowhere PYTHONHOME=/nowhere
srun python train.py
"""
MODULE = 'PATH="$SLURM:$PATH"; srun python train.py'
LOGIN = 'PATH="$SLURM:/usr/bin:/bin"; export PATH; srun python train.py'
CHILDREN = 'PATH="$SLURM:$PATH"; bash -c "srun python train.py"'
SH = 'PATH="$CONDA/bin:$PATH"; export PATH; sh -c "srun python train.py"'
SH_BELOW_BASH = 'PATH="$SLURM:$PATH"; export PATH; bash -c "sh -c \\"srun python train.py\\""'
COMMANDS = {
    "conda activate": CONDA,
    "a module that puts Slurm's folder first": MODULE,
    "a PATH that is written anew": LOGIN,
    "a bash of the script": CHILDREN,
    "an sh of the script": SH,
    "an sh of a bash of the script": SH_BELOW_BASH,
    "a strict script": "set -euo pipefail; srun python train.py",
    "a program that stands before it": "timeout 50 srun python train.py",
    "exec": "exec srun python train.py",
    "a pipe": "set -o pipefail; srun python train.py | cat",
    "the background": "srun python train.py & wait $!",
    "a subshell": "(cd /; srun python train.py)",
}


@pytest.mark.parametrize("script", COMMANDS.values(), ids=COMMANDS.keys())
def test_it_is_found_through(site: Site, script: str) -> None:
    site.program("conda/bin/python", "#!/bin/sh\n")
    words = site.called_with(script, CONDA=str(site.folder / "conda"), SLURM=str(site.slurm))
    assert words == ["--unbuffered", *site.launcher(), "python", "train.py"]


def test_it_is_found_by_a_login_shell_that_sets_its_path_anew(site: Site) -> None:
    (site.folder / ".bash_profile").write_text(f"PATH={site.slurm}:/usr/bin:/bin\n")
    words = site.called_with("srun python train.py", ("bash", "-l", "-c"), HOME=str(site.folder))
    assert words == ["--unbuffered", *site.launcher(), "python", "train.py"]


def test_it_is_found_by_sh_and_by_other_programs(site: Site) -> None:
    expected = ["--unbuffered", *site.launcher(), "python", "train.py"]
    assert site.called_with("srun python train.py", ("sh", "-c")) == expected
    code = "import subprocess, sys; sys.exit(subprocess.call(['srun', 'python', 'train.py']))"
    assert site.called_with(code, (sys.executable, "-c")) == expected


def test_a_script_that_takes_in_the_file_finds_it(site: Site) -> None:
    for shell in ("bash", "sh"):
        clean = {**site.environment(), "PATH": f"{site.slurm}:/usr/bin:/bin"}
        clean = {name: value for name, value in clean.items() if name not in ("BASH_ENV", "BASH_FUNC_srun%%")}
        script = f". {site.shim}/environment.sh; srun python train.py"
        done = subprocess.run([shell, "-c", script], env=clean, capture_output=True, text=True, timeout=60, check=False)
        assert json.loads(done.stdout)[0] == ["--unbuffered", *site.launcher(), "python", "train.py"], done.stderr


def test_the_users_own_bash_env_is_still_read(site: Site) -> None:
    own = site.folder / "own_env"
    own.write_text("echo own")
    assert site.run("true", BASH_ENV=str(own)).stdout == "own\n"


UNCHANGED = {
    "switched off": ({"HEDGEROW": "off"}, "srun python train.py", ["python", "train.py"]),
    "with nobody to report to": ({"HEDGEROW_ADDRESS_FILE": ""}, "srun python train.py", ["python", "train.py"]),
    "inside a rank": ({"HEDGEROW_ATTEMPT": "1"}, "srun python train.py", ["python", "train.py"]),
    "inside a step": ({"SLURM_STEP_NUM_NODES": "1"}, "srun python train.py", ["python", "train.py"]),
    "for a terminal": ({}, "srun --pty bash", ["--pty", "bash"]),
    "for its version": ({}, "srun --version", ["--version"]),
    "for another job": ({}, "srun --jobid 8 hostname", ["--jobid", "8", "hostname"]),
    "for nothing": ({}, "srun", []),
}


@pytest.mark.parametrize(("variables", "script", "words"), UNCHANGED.values(), ids=UNCHANGED.keys())
def test_srun_is_called_as_it_was_written(site: Site, variables: dict[str, str], script: str, words: list[str]) -> None:
    assert site.called_with(script, **variables) == words


def test_a_launcher_that_is_gone_stops_no_script(site: Site) -> None:
    write_shim(str(site.shim), sys.executable, str(site.folder / "gone.pyz"))
    assert site.called_with("srun python train.py") == ["python", "train.py"]


def test_two_of_them_do_not_call_each_other(site: Site) -> None:
    write_shim(str(site.folder / "other"), sys.executable, str(site.archive))
    words = site.called_with(
        'PATH="$OTHER:$PATH"; export PATH; exec srun python train.py', OTHER=str(site.folder / "other")
    )
    assert words == ["--unbuffered", *site.launcher(), "python", "train.py"]


def test_options_of_plugins_are_asked_for(site: Site) -> None:
    words = site.called_with("srun --site-speed 3 python train.py")
    assert words == ["--unbuffered", "--site-speed", "3", *site.launcher(), "python", "train.py"]


def test_srun_has_no_variables_of_ours_that_it_had_not(site: Site) -> None:
    done = site.run("exec srun python train.py")
    assert json.loads(done.stdout)[2] == ["HEDGEROW_ADDRESS_FILE"]


def test_srun_is_the_process_that_was_started(site: Site) -> None:
    process = subprocess.Popen(
        ["sh", "-c", "exec srun python train.py"], env=site.environment(), stdout=subprocess.PIPE, text=True
    )
    out, _err = process.communicate(timeout=60)
    assert json.loads(out)[1] == process.pid


BACKGROUND = """
srun python train.py & pid=$!
trap 'kill -USR1 $pid' USR1
trap 'kill -TERM $pid' TERM
wait $pid; code=$?
while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done
echo code $code
"""


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_signals_reach_an_srun_in_the_background(site: Site, number: signal.Signals) -> None:
    site.program("slurm/srun", WAITS)
    with (site.folder / "out").open("wb") as out:
        process = subprocess.Popen(["bash", "-c", BACKGROUND], env=site.environment(), stdout=out)
    wait_until(lambda: "up" in (site.folder / "out").read_text())
    process.send_signal(number)
    assert process.wait(30) == 0
    assert (site.folder / "out").read_text().split("\n")[:3] == ["up", f"signal {number.value}", "code 33"]


def test_what_an_ended_script_has_started_is_gone(site: Site) -> None:
    site.program("slurm/srun", WAITS.replace('print("up", flush=True)', "print(os.getpid(), flush=True)"))
    with (site.folder / "out").open("wb") as out:
        process = subprocess.Popen(["bash", "-c", "exec srun python train.py"], env=site.environment(), stdout=out)
    pid = int(wait_until(lambda: (site.folder / "out").read_text()))
    process.terminate()
    assert process.wait(30) == 33
    assert not alive(pid)


@pytest.mark.parametrize("words", [(), ("--version",), ("-h",), ("a", "b")])
def test_what_is_no_folder_makes_none(tmp_path: Path, archive: Path, words: tuple[str, ...]) -> None:
    call = [sys.executable, str(archive), "shim", *words]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    told = "hedgerow: write `python3 hedgerow.pyz shim DIRECTORY`, with the folder to make\n"
    assert (done.returncode, done.stderr) == (2, told)
    assert list(tmp_path.iterdir()) == []
