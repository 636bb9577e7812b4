"""`hedgerow local` as a user starts it, and what it leaves on the machine."""

import contextlib
import functools
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.processes import Member, members
from hedgerow_operator.adapters.local.state_file import read_job
from hedgerow_operator.api.conditions import find_condition, is_true
from hedgerow_operator.api.status import Condition
from hedgerow_operator.api.training_job import TrainingJob
from tests.local.forked import Forked

EXAMPLE = Path(__file__).parents[2] / "examples" / "quickstart"

MANIFEST = """
apiVersion: hedgerow.dev/v1alpha1
kind: TrainingJob
metadata: {{name: run}}
spec:
  workers: {workers}
  ranksPerWorker: {ranks}
  local:
    command: ["{python}", "{script}"]
    env: {env}
  checkpoint: {{directory: "{folder}/checkpoints"}}
  health: {{stall: {{minSeconds: 2}}}}
  recovery: {{mode: {mode}, graceSeconds: {grace}, backoff: {{initialSeconds: 0}}}}
"""


class LocalRun:
    """A folder with a manifest and a state directory, and the controllers that were started on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.manifest = folder / "job.yaml"
        self._controllers: list[Forked] = []

    def write(
        self, script: Path = EXAMPLE / "train.py", env: dict[str, str] | None = None, **fields: Any
    ) -> "LocalRun":
        """Write the manifest: the quickstart without its faults, unless told otherwise."""
        calm = {"HANG_RANK": "-1", "TORN_STEP": "-1", "CHECKPOINT_DIRECTORY": f"{self.folder}/checkpoints"}
        entries = [{"name": name, "value": value} for name, value in {**calm, **(env or {})}.items()]
        values = {"workers": 1, "ranks": 2, "mode": "Act", "grace": 2, **fields}
        text = MANIFEST.format(python=sys.executable, script=script, env=entries, folder=self.folder, **values)
        self.manifest.write_text(text)
        return self

    def script(self, text: str) -> Path:
        """A training script of this test's own."""
        path = self.folder / "script.py"
        path.write_text(text)
        return path

    def start(self, *options: str) -> Forked:
        """Start a controller in the background."""
        controller = Forked(["local", "-f", str(self.manifest), *self._state(), *options])
        self._controllers.append(controller)
        return controller

    def run(self, *options: str, seconds: float = 150.0) -> tuple[int, str]:
        """Run a controller to its end: exit code and everything that it printed."""
        return self.end(self.start(*options), seconds)

    def end(self, controller: Forked, seconds: float = 150.0) -> tuple[int, str]:
        """Wait for a controller: exit code and everything that it printed."""
        output, _ = controller.communicate(timeout=seconds)
        return controller.returncode, output

    def job(self) -> TrainingJob:
        """The job as it is stored."""
        job = self._stored()
        assert job is not None, "no job is stored"
        return job

    def condition(self, kind: str) -> Condition:
        """One condition of the stored job."""
        found = find_condition(self.job().status.conditions, kind)
        assert found is not None, f"the job has no condition {kind}"
        return found

    def holds(self, kind: str) -> bool:
        """Whether the stored job has this condition and it is True."""
        job = self._stored()
        return job is not None and is_true(job.status.conditions, kind)

    def alive(self) -> list[Member]:
        """Every live process of the job."""
        job = self._stored()
        return members(job.metadata.uid) if job else []

    def ranks(self) -> dict[int, int]:
        """Pids of the live ranks by RANK."""
        found = [(variable(member, "RANK"), member.identity.pid) for member in self.alive() if member.is_rank]
        return {int(rank): pid for rank, pid in found if rank}

    def attempts(self) -> set[str]:
        """The attempts that live ranks belong to."""
        return {variable(member, "HEDGEROW_ATTEMPT") for member in self.alive() if member.is_rank} - {""}

    def printed(self, placement: int = 1, worker: int = 0) -> str:
        """What the ranks of a worker printed."""
        path = self.state / "default" / "run" / f"placement-{placement}" / f"worker-{worker}.log"
        return path.read_text() if path.exists() else ""

    def until(self, happens: Callable[[], bool], seconds: float = 90.0) -> None:
        """Wait for something with a deadline; what was printed goes into the failure."""
        deadline = time.monotonic() + seconds
        while not happens():
            assert time.monotonic() < deadline, f"it did not happen in time; the ranks printed:\n{self.printed()}"
            time.sleep(0.05)

    def until_printed(self, text: str, seconds: float = 90.0) -> None:
        """Wait until a rank has printed this."""
        self.until(lambda: text in self.printed(), seconds)

    def clean(self) -> None:
        """End everything that this test started."""
        for controller in self._controllers:
            if controller.poll() is None:
                controller.kill()
            controller.wait()
            controller.stdout.close()
        with contextlib.suppress(StateError):
            for member in self.alive():
                kill(member.identity.pid, signal.SIGKILL)

    def _stored(self) -> TrainingJob | None:
        return stored_job(self.state / "default" / "TrainingJob" / "run.yaml")

    def _state(self) -> tuple[str, str]:
        return "--state-dir", str(self.state)


def stored_job(path: Path) -> TrainingJob | None:
    """The job in a state file, None without one. Whoever polls it parses it once: every state is a file of its own."""
    try:
        file = path.stat()
    except OSError:
        return read_job(path)
    return _parsed(path, file.st_ino, file.st_mtime_ns, file.st_size)


@functools.lru_cache(maxsize=64)
def _parsed(path: Path, _inode: int, _written: int, _size: int) -> TrainingJob | None:
    return read_job(path)


def variable(member: Member, name: str) -> str:
    """A variable in the environment of a process; "" when it or the process is not there."""
    try:
        block = Path(f"/proc/{member.identity.pid}/environ").read_bytes()
    except OSError:
        return ""
    entries = dict(entry.split(b"=", 1) for entry in block.split(b"\0") if b"=" in entry)
    return entries.get(name.encode(), b"").decode()


def kill(pid: int, number: signal.Signals) -> None:
    """Signal a process that may have gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def launcher_pid(run: LocalRun, worker: int = 0) -> int:
    """Pid of the launcher itself (not of the shell around it)."""
    for member in run.alive():
        words = Path(f"/proc/{member.identity.pid}/cmdline").read_bytes().split(b"\0")
        if not member.is_rank and member.worker == worker and b"-E" in words[:2]:
            return member.identity.pid
    raise AssertionError(f"worker {worker} has no launcher")
