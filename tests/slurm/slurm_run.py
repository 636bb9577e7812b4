"""`hedgerow local` with jobs on the testbed, as a user starts it, and the processes that really run for them."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hedgerow_operator.adapters.local.state_file import read_job
from hedgerow_operator.api.conditions import find_condition, is_true
from hedgerow_operator.api.training_job import TrainingJob
from tests.cluster.testbed import processes
from tests.slurm.testbed.errors import TestbedError
from tests.slurm.testbed.testbed import Testbed, entries
from tests.slurm.testbed.waiting import wait_for

REPOSITORY = Path(__file__).parents[2]
TRAIN = REPOSITORY / "examples" / "quickstart" / "train.py"
LOOK_SECONDS = 0.1
# Beyond what anything here takes on a machine that is busy; says only when a test has failed.
LONGEST_SECONDS = 240.0
ATTEMPT = b"HEDGEROW_ATTEMPT"

MANIFEST = """
apiVersion: hedgerow.dev/v1alpha1
kind: TrainingJob
metadata: {{name: {name}}}
spec:
  workers: {workers}
  ranksPerWorker: {ranks}
  slurm:
    timeLimit: "{time}"
    resubmit: {resubmit}
    options: {options}
    script: |
      export CHECKPOINT_DIRECTORY={folder}/checkpoints STEPS={steps} READ_SECONDS={read} HANG_RANK=-1 TORN_STEP=-1
      {lines}
      exec {python} {train}
  checkpoint: {{directory: "{folder}/checkpoints"}}
  health: {{stall: {{minSeconds: 2}}}}
  recovery: {{graceSeconds: {grace}, noProgressLimit: 6, fenceSeconds: 10, backoff: {{initialSeconds: 0}}{recovery}}}
"""


class SlurmRun:
    """A folder with manifests and a state directory. From the first start on it is looked at what lives: `overlaps`
    are the moments at which ranks of two attempts of one job did.
    """

    def __init__(self, testbed: Testbed, folder: Path) -> None:
        self.testbed, self.folder, self.state = testbed, folder, folder / "state"
        self.manifests = folder / "jobs"
        self.manifests.mkdir(parents=True)
        self.overlaps: list[str] = []
        self._controllers: list[subprocess.Popen[str]] = []
        self._parsed: dict[str, tuple[tuple[int, int], TrainingJob | None]] = {}
        self._ended = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)

    def write(self, name: str = "run", lines: str = "", **fields: Any) -> "SlurmRun":
        """Write a manifest. lines: of the script, run in each rank before it trains."""
        values = {"workers": 3, "ranks": 1, "time": "10", "resubmit": "NewJob", "options": "{}", "steps": 40,
                  "read": 0.05, "grace": 2, "recovery": "", **fields}  # fmt: skip
        text = MANIFEST.format(
            name=name, lines=lines, folder=self.folder / name, python=sys.executable, train=TRAIN, **values
        )
        (self.manifests / f"{name}.yaml").write_text(text)
        return self

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start a controller."""
        words = [sys.executable, "-m", "hedgerow_operator.cli", "local", "-f", str(self.manifests)]
        controller = subprocess.Popen(
            [*words, "--state-dir", str(self.state), *options],
            env={**_variables(), **self.testbed.environment},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._controllers.append(controller)
        self.watch()
        return controller

    def watch(self) -> None:
        """Look at what lives from now on."""
        if not self._watching.is_alive():
            self._watching.start()

    def end(self, seconds: float = LONGEST_SECONDS) -> tuple[int, str]:
        """Wait for the newest controller: exit code and everything that it printed."""
        try:
            output, _ = self._controllers[-1].communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._controllers[-1].send_signal(signal.SIGKILL)
            output, _ = self._controllers[-1].communicate()
            raise AssertionError(f"it has not ended in {seconds} s:\n{output}\n{self.logs()}") from None
        return self._controllers[-1].returncode, output

    def job(self, name: str = "run") -> TrainingJob | None:
        """The job as it is stored; parsed only when the file is another one, since to parse it takes long."""
        path = self.state / "default" / "TrainingJob" / f"{name}.yaml"
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        written = (found.st_ino, found.st_mtime_ns)
        if self._parsed.get(name, (None, None))[0] != written:
            self._parsed[name] = written, read_job(path)
        return self._parsed[name][1]

    def reason(self, kind: str, name: str = "run") -> str:
        """The reason of a condition that is True; "" while it is not."""
        job = self.job(name)
        found = find_condition(job.status.conditions, kind) if job else None
        return found.reason if found is not None and job is not None and is_true(job.status.conditions, kind) else ""

    def slurm_job(self, name: str = "run") -> str:
        """The number of the Slurm job; "" while there is none."""
        job = self.job(name)
        return job.status.slurm.job_id if job is not None and job.status.slurm is not None else ""

    def ranks(self, name: str = "run") -> dict[int, tuple[int, str]]:
        """The live ranks: pid -> attempt and node."""
        job = self.job(name)
        return {} if job is None else self._ranks(job.metadata.uid)

    def until_training(
        self, step: int = 1, attempt: int = 1, name: str = "run", seconds: float = LONGEST_SECONDS
    ) -> None:
        """Wait until the attempt has ranks that step."""

        def trains() -> bool:
            if self.printed_step(name) < step:
                return False
            return {number for number, _ in self.ranks(name).values()} == {attempt}

        self.until(f"attempt {attempt} of {name} to reach step {step}", trains, seconds)

    def until(self, what: str, probe: Callable[[], object], seconds: float = LONGEST_SECONDS) -> None:
        """Wait for something with a deadline; what was printed goes into the failure."""
        try:
            wait_for(what, probe, seconds)
        except TestbedError as error:
            self._controllers[-1].send_signal(signal.SIGKILL)
            output, _ = self._controllers[-1].communicate()
            raise AssertionError(f"{error}\n{output}\n{self.logs()}") from None

    def printed_step(self, name: str = "run") -> int:
        """The last step that has a checkpoint."""
        found = (self.folder / name / "checkpoints").glob("step-*.safetensors")
        return max((int(path.stem.split("-")[1]) for path in found), default=0)

    def nodes_of(self, placement: int, name: str = "run") -> set[str]:
        """The nodes that Slurm gave to a placement."""
        (nodes,) = self._squeue(f"{self._uid(name)}:{placement}", "%N")
        return set(self.testbed.run(["scontrol", "show", "hostnames", nodes]).split())

    def slurm_jobs(self, name: str = "run") -> list[str]:
        """The states of every Slurm job that was ever submitted for a job."""
        return self._squeue(f"{self._uid(name)}:", "%T")

    def _uid(self, name: str) -> str:
        job = self.job(name)
        assert job is not None
        return job.metadata.uid

    def _squeue(self, comment: str, field: str) -> list[str]:
        shown = self.testbed.run(["squeue", "--noheader", "--states=all", f"--format=%k {field}"]).splitlines()
        lines = [line.split() for line in shown]
        # What Slurm keeps of a refused submission has no nodes.
        return [line[1] for line in lines if len(line) > 1 and line[0].startswith(f"hedgerow:{comment}")]

    def logs(self) -> str:
        """Everything that launchers and ranks have printed."""
        found = sorted(self.state.glob("default/*/placement-*/*.log"))
        return "\n".join(f"== {path.relative_to(self.state)}\n{path.read_text()[-2000:]}" for path in found)

    def clean(self) -> None:
        """End the controllers and what they have started: a scancel that waits could find the next test's job."""
        self._ended.set()
        for controller in self._controllers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(controller.pid, signal.SIGKILL)
            controller.wait()
            if controller.stdout is not None:
                controller.stdout.close()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            with contextlib.suppress(Exception):  # a cluster that is being closed
                by_job: dict[str, set[int]] = defaultdict(set)
                for variables in self.testbed.environments():
                    if ATTEMPT in variables and b"RANK" in variables:
                        by_job[variables[b"HEDGEROW_JOB_UID"].decode()].add(int(variables[ATTEMPT]))
                self.overlaps += [
                    f"{time.time():.1f} {uid}: {attempts}" for uid, attempts in by_job.items() if len(attempts) > 1
                ]

    def _ranks(self, uid: str) -> dict[int, tuple[int, str]]:
        found = {}
        for pid in self.testbed.processes_of(HEDGEROW_JOB_UID=uid):
            for attempt, node in _rank(pid):
                found[pid] = attempt, node
        return found


def _rank(pid: int) -> list[tuple[int, str]]:
    """Attempt and node of a process that is a rank; nothing for others."""
    try:
        block = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return []
    variables = entries(block)
    if ATTEMPT not in variables or b"RANK" not in variables or not processes.alive(pid):
        return []
    return [(int(variables[ATTEMPT]), variables.get(b"SLURMD_NODENAME", b"").decode())]


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("HEDGEROW_", "SLURM_"))}
