"""The process namespace in which Slurm and its jobs run."""

import contextlib
import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.testbed import processes
from tests.slurm.testbed import keeper
from tests.slurm.testbed.errors import TestbedError

REPOSITORY = Path(__file__).resolve().parents[3]


class Namespace:
    """One namespace; ends, and `folder` with it, when this process does or `close` is called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", keeper.__name__, str(folder)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def spawn(self, words: Sequence[str], environment: Mapping[str, str], log: Path) -> int:
        """Start a program inside; its process id as seen from here."""
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        request = {"words": list(words), "environment": dict(environment), "log": str(log)}
        try:
            self._keeper.stdin.write(json.dumps(request) + "\n")
            self._keeper.stdin.flush()
            inner = self._keeper.stdout.readline().strip()
        except BrokenPipeError:
            inner = ""
        if not inner:
            raise TestbedError(f"The testbed's namespace has ended; {words[0]} was not started.")
        found = [pid for pid in processes.children(self.first) if _inner(pid) == inner]
        if not found:
            raise TestbedError(f"{words[0]} ended as it began; the end of {log}: {last_words(log)}")
        return found[0]

    @functools.cached_property
    def first(self) -> int:
        """Process 1, as seen from here."""
        return processes.children(processes.children(self._keeper.pid)[0])[0]

    def processes(self) -> list[int]:
        """Every live process inside but the first, as seen from here."""
        return [pid for pid in processes.descendants(self.first) if processes.alive(pid)]

    def environments(self) -> list[bytes]:
        """The variables of each live process inside, as the kernel has them: looked at often, so from its own /proc."""
        inside, found = f"/proc/{self.first}/root/proc", []
        for name in os.listdir(inside):
            if name.isdigit():
                with contextlib.suppress(OSError), open(f"{inside}/{name}/environ", "rb") as file:
                    found.append(file.read())  # of a zombie it is empty
        return found

    def close(self) -> None:
        """End every process inside and remove the folder; returns when both are gone."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        assert self._keeper.stdout is not None
        self._keeper.stdout.close()


def _inner(pid: int) -> str:
    """The process id in the innermost namespace."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return next((line.split()[-1] for line in lines if line.startswith("NSpid:")), "")


def last_words(log: Path) -> str:
    """The end of a log."""
    return log.read_text(errors="replace").strip()[-2000:] if log.exists() else ""
