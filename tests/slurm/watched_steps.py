"""Steps of the real Slurm whose launchers report to a small server of the test."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hedgerow import pack, wire
from tests.launcher.launching import begin
from tests.launcher.operator_double import OperatorDouble
from tests.slurm.slurm_run import LONGEST_SECONDS
from tests.slurm.testbed.testbed import Testbed


class WatchedSteps:
    """The cluster, the server, and a folder on the shared file system."""

    def __init__(self, slurm: Testbed, folder: Path) -> None:
        self.slurm = slurm
        self.folder = folder
        folder.mkdir(mode=0o755)
        self.archive = folder / "hedgerow.pyz"
        pack.write(str(self.archive), compiled=True)
        self.operator = OperatorDouble(interval=0.5)
        self.address = folder / "address"
        self.address.write_text(self.operator.url)

    def variables(self) -> dict[str, str]:
        """What a controller gives to launchers."""
        return {
            "HEDGEROW_ADDRESS_FILE": str(self.address),
            "HEDGEROW_JOB_UID": "uid-1",
            "HEDGEROW_JOB_NAMESPACE": "default",
            "HEDGEROW_JOB_NAME": "job",
            "HEDGEROW_ADDRESS": "127.0.0.1",
        }

    def launcher(self, *options: str) -> str:
        return " ".join([sys.executable, "-E", str(self.archive), "run", *options, "--"])

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def submit(self, script: str, *options: str, environment: dict[str, str] | None = None) -> str:
        """The id of a job that runs this bash script; what it prints is in ``out``."""
        path = self.write("job.sh", "#!/bin/bash\n" + script)
        given = {name: "" for name in os.environ if name.startswith(("HEDGEROW", "SLURM"))}
        given.update(self.variables() if environment is None else environment)
        words = ["sbatch", "--parsable", "--output=out.%a", *options, str(path)]
        return self.slurm.run(["env", *(f"--unset={name}" for name in given if not given[name]), *words],
                              cwd=self.folder, environment={k: v for k, v in given.items() if v})  # fmt: skip

    def out(self, task: str = "4294967294") -> str:
        """What the job has printed. task: of an array; else Slurm has this number for it."""
        path = self.folder / f"out.{task}"
        return path.read_text() if path.exists() else ""

    def start(self, nodes: int, attempt: int = 1, *before: wire.Command) -> None:
        """From now on every launcher of these nodes is told to start this attempt."""
        for node in range(nodes):
            self.operator.command(*before, begin(attempt), worker=node)

    def finish(self, nodes: int, attempt: int, exit_code: int = 0) -> None:
        for node in range(nodes):
            self.operator.command(wire.Command(wire.COMMAND_FINISH, attempt, exit_code=exit_code), worker=node)

    def ended(self, job: str) -> str:
        """The state in which it has ended."""
        end = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < end:
            shown = self.slurm.run(f"squeue --noheader --states=all --format=%T --job={job}", check=False).split()
            if shown and all(state not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING") for state in shown):
                return " ".join(sorted(set(shown)))
            time.sleep(0.1)
        raise AssertionError(f"job {job} is {shown}; it has printed: {self.out()}")

    def every_node(self, nodes: int, what: Callable[[wire.Report], Any]) -> list[wire.Report]:
        """The first report of each node for which this holds."""
        return [self.operator.wait_for(what, worker=node) for node in range(nodes)]

    def close(self) -> None:
        self.slurm.run("scancel --signal=KILL --full --user=$(id -un); scancel --user=$(id -un)", check=False)
        self.operator.close()
