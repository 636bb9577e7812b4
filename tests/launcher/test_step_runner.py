"""What stands for srun in a supervised script, with a pretended supervisor and a pretended srun."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow import pack

SRUN = """#!/bin/sh
# Says what it was given, and ends as the file beside it tells.
echo "srun $*"
echo "placement ${HEDGEROW_PLACEMENT-none} off ${HEDGEROW-no}"
trap 'echo got USR1' USR1
trap 'exit 9' TERM
echo $$ > "$0.pid"
while [ ! -f "$0.code" ]; do sleep 0.02; done
code=$(cat "$0.code")
rm "$0.code"
exit "$code"
"""


class Supervisor:
    """The other end: one connection."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.srun = folder / "srun"
        self.srun.write_text(SRUN)
        self.srun.chmod(0o755)
        self.archive = folder / "hedgerow.pyz"
        pack.write(str(self.archive), compiled=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / "steps-5"))
        self._listener.listen()
        self._listener.settimeout(20)
        self.process: subprocess.Popen[str] | None = None
        self._lines: Any = None
        self._connection: socket.socket | None = None

    def call(self, *arguments: str, job_id: str = "5") -> dict[str, Any]:
        """Call srun as a script does; what is said first."""
        self.begin(*arguments, job_id=job_id)
        self._connection, _ = self._listener.accept()
        self._connection.settimeout(20)
        self._lines = self._connection.makefile()
        return self.hear("hello")

    def begin(self, *arguments: str, job_id: str = "5") -> "subprocess.Popen[str]":
        """Likewise, without waiting for anything."""
        variables = {
            **os.environ,
            "SLURM_JOB_ID": job_id,
            "HEDGEROW_STEPS": str(self.folder / "steps-5"),
            "HEDGEROW_SRUN": str(self.srun),
        }
        words = [sys.executable, "-E", str(self.archive), "srun", *arguments]
        self.process = subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return self.process

    def say(self, **message: Any) -> None:
        assert self._connection is not None
        self._connection.sendall(json.dumps(message).encode() + b"\n")

    def start(self, placement: int, *options: str, watched: bool = True) -> None:
        """Have srun started, and wait until it says that it was."""
        (self.folder / "srun.pid").unlink(missing_ok=True)
        variables = {"HEDGEROW_PLACEMENT": str(placement)}
        self.say(start={"variables": variables, "options": list(options), "watched": watched})
        self.hear("started")
        while not (self.folder / "srun.pid").exists():
            pass

    def end_srun(self, code: int) -> dict[str, Any]:
        """What is said of its end."""
        (self.folder / "part").write_text(str(code))
        (self.folder / "part").rename(self.folder / "srun.code")
        return self.hear("ended")

    def hear(self, what: str) -> dict[str, Any]:
        message = json.loads(self._lines.readline())
        assert list(message) == [what]
        return dict(message[what])

    def leave(self) -> None:
        """Be gone."""
        if self._connection is not None:
            self._lines.close()
            self._connection.close()

    def ended(self) -> tuple[int, list[str]]:
        """Exit code and output."""
        assert self.process is not None
        output, _ = self.process.communicate(timeout=120)
        return self.process.returncode, output.splitlines()

    def close(self) -> None:
        self.leave()
        self._listener.close()
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    made = Supervisor(tmp_path)
    yield made
    made.close()


def test_it_starts_srun_with_the_launcher_before_the_program(supervisor: Supervisor) -> None:
    hello = supervisor.call("-N2", "--label", "python", "train.py", "-N3")
    assert (hello["program"], hello["arguments"][0]) == (["python", "train.py", "-N3"], "-N2")
    supervisor.start(1, "--exclude=n3")
    assert supervisor.end_srun(4) == {"code": 4, "by_user": False}
    supervisor.say(exit=7)
    code, output = supervisor.ended()
    assert code == 7
    assert output[0].startswith("srun --exclude=n3 --unbuffered -N2 --label ")
    assert output[0].endswith(f"{supervisor.archive} run --slurm-launch auto -- python train.py -N3")
    assert output[1] == "placement 1 off no"


def test_for_the_script_several_starts_are_one_srun(supervisor: Supervisor) -> None:
    supervisor.call("python", "train.py")
    for placement in (1, 3):
        supervisor.start(placement)
        supervisor.end_srun(1)
    supervisor.say(exit=0)
    code, output = supervisor.ended()
    assert code == 0
    assert [line for line in output if line.startswith("placement")] == ["placement 1 off no", "placement 3 off no"]


def test_signals_of_the_script_reach_srun_and_those_that_end_it_are_told(supervisor: Supervisor) -> None:
    supervisor.call("python", "train.py")
    supervisor.start(1)
    assert supervisor.process is not None
    supervisor.process.send_signal(signal.SIGUSR1)
    supervisor.process.send_signal(signal.SIGTERM)
    assert supervisor.hear("ended") == {"code": 9, "by_user": True}
    supervisor.say(exit=9)
    code, output = supervisor.ended()
    assert (code, "got USR1" in output) == (9, True)


def test_the_supervisor_can_signal_srun(supervisor: Supervisor) -> None:
    supervisor.call("python", "train.py")
    supervisor.start(1)
    supervisor.say(signal=int(signal.SIGTERM))
    assert supervisor.hear("ended") == {"code": 9, "by_user": False}


def test_a_script_that_ends_it_before_srun_runs_is_not_kept_waiting(supervisor: Supervisor) -> None:
    supervisor.call("python", "train.py")
    assert supervisor.process is not None
    supervisor.process.terminate()
    assert supervisor.ended()[0] == 128 + signal.SIGTERM


def test_when_the_supervisor_is_gone_what_runs_runs_to_its_end(supervisor: Supervisor) -> None:
    supervisor.call("python", "train.py")
    supervisor.start(1)
    supervisor.leave()
    (supervisor.folder / "srun.code").write_text("5")
    assert supervisor.ended()[0] == 5


def test_unwatched_srun_runs_as_the_script_has_it(supervisor: Supervisor) -> None:
    supervisor.call("-N2", "python", "train.py")
    supervisor.start(1, watched=False)
    supervisor.end_srun(0)
    supervisor.say(exit=0)
    assert supervisor.ended()[1] == ["srun -N2 python train.py", "placement none off off"]


def test_a_socket_that_another_batch_job_has_left_behind_is_not_asked(supervisor: Supervisor) -> None:
    process = supervisor.begin("-N2", "python", "train.py", job_id="6")
    (supervisor.folder / "srun.code").write_text("3")
    output, _ = process.communicate(timeout=120)
    assert (process.returncode, output.splitlines()[0]) == (3, "srun -N2 python train.py")


def test_where_nobody_listens_srun_runs_as_it_is(supervisor: Supervisor) -> None:
    supervisor.close()
    process = supervisor.begin("-N2", "python", "train.py")
    (supervisor.folder / "srun.code").write_text("0")
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, output.splitlines()[0]) == (0, "srun -N2 python train.py")
    assert "the step runs unwatched" in errors
