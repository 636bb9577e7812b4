"""What the tests of hedgerow sbatch do: write a script, submit it, wait, look at what became of it."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hedgerow_operator.adapters.local.state_file import read_job
from hedgerow_operator.api.training_job import TrainingJob
from tests.slurm.testbed.testbed import Testbed

HEDGEROW = str(Path(sys.executable).with_name("hedgerow"))
TRAIN = Path(__file__).with_name("train.py")
PMI2 = Path(__file__).parents[1] / "pmi2_client.py"
STARTER = Path(__file__).parents[2] / "launcher" / "ranks_starter.py"
# They stand in line for nodes, and a machine may be busy.
LONGEST_SECONDS = 600.0
QUICK = """\
health: {reportTimeoutSeconds: 10, stall: {minSeconds: 3}}
recovery: {graceSeconds: 2, fenceSeconds: 10, noProgressLimit: 5, backoff: {initialSeconds: 0}}
"""


ONCE = QUICK.replace("recovery: {", "recovery: {maxRestarts: 0, ")


class Case:
    """One script in a folder of its own."""

    def __init__(self, slurm: Testbed, name: str, script: str, environment: Mapping[str, str] | None = None) -> None:
        self.slurm = slurm
        self.folder = slurm.jobs / name
        self.folder.mkdir()
        (self.folder / "quick.yaml").write_text(QUICK)
        (self.folder / "once.yaml").write_text(ONCE)
        torchrun = self.folder / "torchrun"
        torchrun.write_text(f'#!/bin/sh\nexec python3 {STARTER} "$@"\n')
        torchrun.chmod(0o755)
        self.script = self.folder / "job.sh"
        for name, path in (("train", TRAIN), ("pmi2", PMI2), ("folder", self.folder)):
            script = script.replace("{" + name + "}", str(path))
        self.script.write_text(script)
        self.state = self.folder / "state"
        self.environment = {"HEDGEROW_STATE": str(self.state), **(environment or {})}
        self.job_id = self.said = self.ended_as = ""
        self.left: list[int] = []

    def submit(self, *options: str, command: Sequence[str] = (HEDGEROW, "sbatch", "--job-spec=quick.yaml")) -> str:
        """What is printed."""
        words = [*command, f"--checkpoint-dir={self.folder}/checkpoints"] if command[0] == HEDGEROW else [*command]
        said = self.slurm.run([*words, *options, str(self.script)], cwd=self.folder, environment=self.environment)
        self.said, _, self.job_id = said.rpartition(" ")
        return said

    def keep_state(self) -> None:
        """How its first batch job ended, before Slurm forgets it, and which processes of it still run."""
        self.left = self.slurm.processes_of(HEDGEROW_STATE=str(self.state))
        words = ["squeue", "--noheader", "--states=all", f"--jobs={self.job_id}", "--format=%T"]
        self.ended_as = self.slurm.run(words, check=False)

    def until_saved(self) -> None:
        """Until it has a checkpoint."""
        self.until((self.folder / "checkpoints").is_dir)

    def until_stepped(self) -> None:
        """Until its TrainingJob is stored with a step."""
        self.until(lambda: self.stored and self.job("train").status.step is not None)

    def until_begun(self) -> None:
        """Until both ranks have begun, and their TrainingJob is stored."""
        self.until(lambda: self.stored and self.lives(1) == {0, 1})

    @property
    def stored(self) -> bool:
        """Whether its TrainingJob is."""
        return any(self.state.glob("*-*/default/TrainingJob/train.yaml"))

    def kill_supervisor(self) -> None:
        """kill -9."""
        pids = self.slurm.processes_of(SLURM_JOB_ID=self.job_id)
        (pid,) = (pid for pid in pids if b"\0supervise\0" in Path(f"/proc/{pid}/cmdline").read_bytes())
        os.kill(pid, signal.SIGKILL)

    @property
    def jobs(self) -> list[str]:
        """The batch jobs of this script, as far as they still exist."""
        said = self.slurm.run(["squeue", "--noheader", "--format=%i %Z"])
        return [line.split()[0] for line in said.splitlines() if line.split()[-1] == str(self.folder)]

    def wait(self, seconds: float = LONGEST_SECONDS) -> None:
        """Until no batch job of it is left."""
        self.until(lambda: not self.jobs, seconds)

    def until(self, holds: Callable[[], object], seconds: float = LONGEST_SECONDS) -> None:
        """Fails with what was printed when it takes longer."""
        deadline = time.monotonic() + seconds
        while not holds():
            seen = "" if time.monotonic() < deadline else self.slurm.seen()
            assert not seen, f"not within {seconds} s; Slurm:\n{seen}\nthe output:\n{self.output}\n{self.news}"
            time.sleep(0.2)

    def job(self, name: str) -> TrainingJob:
        """One of its TrainingJobs, as it was stored last."""
        (path,) = self.state.glob(f"*-*/default/TrainingJob/{name}.yaml")
        found = read_job(path)
        assert found is not None
        return found

    @property
    def output(self) -> str:
        """Of all batch jobs, in their order."""
        files = sorted(self.folder.glob("slurm-*.out"), key=lambda path: path.stat().st_mtime)
        return "".join(path.read_text() for path in files)

    @property
    def news(self) -> str:
        """What the supervisors have written down."""
        return "".join(path.read_text() for path in sorted(self.state.glob("*-*/**/hedgerow.log")))

    def lines(self, name: str) -> list[list[str]]:
        """Of a file that the ranks write."""
        path = self.folder / name
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def lives(self, attempt: int) -> set[int]:
        """The ranks that have lived in an attempt."""
        return {int(rank) for number, rank, *_ in self.lines("lives") if int(number) == attempt}

    @property
    def ended(self) -> set[int]:
        """The ranks that have come to their last step."""
        return {int(rank) for (rank,) in self.lines("ended")}
