"""The folder of one submission: what it was given, and how its batch jobs stand."""

import contextlib
import os
import secrets
import time
from pathlib import Path

import msgspec

from hedgerow_operator.adapters.local.files import read_bytes, write_whole
from hedgerow_operator.core.slurm.chain import Chain
from hedgerow_operator.core.slurm.sbatch_plan import SbatchPlan

_SCRIPT, _PLAN, _CHAIN, _ELSEWHERE = "script", "plan.json", "chain.json", "cluster"


class Folder:
    """Of one submission. task: number of the task of an array, which has a folder of its own; "" outside of one."""

    def __init__(self, path: Path, task: str = "") -> None:
        self.path = path
        self.script = path / _SCRIPT
        self.state = path / f"task-{task}" if task else path

    def write(self, plan: SbatchPlan, script: str) -> None:
        """Raises OSError."""
        write_whole(self.script, script.encode("utf-8", "surrogateescape"), mode=0o700)
        write_whole(self.path / _PLAN, msgspec.json.format(msgspec.json.encode(plan)) + b"\n", mode=0o600)

    def plan(self) -> SbatchPlan:
        """Raises OSError, msgspec.DecodeError."""
        return msgspec.json.decode((self.path / _PLAN).read_bytes(), type=SbatchPlan)

    def note_cluster(self, cluster: str) -> None:
        """Its batch job went to another cluster than this machine's, or to one of a federation, whichever way said so.
        Raises OSError.
        """
        write_whole(self.path / _ELSEWHERE, f"{cluster}\n".encode())

    def is_elsewhere(self) -> bool:
        """See note_cluster."""
        return (self.path / _ELSEWHERE).exists()

    def write_submitted(self, part: str, name: str, text: str) -> Path:
        """What is given to sbatch, under the name that the batch job is to have. Raises OSError."""
        path = self.state / part / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return path

    def text(self) -> str:
        """The script."""
        return self.script.read_bytes().decode("utf-8", "surrogateescape")

    def chain(self) -> Chain:
        """Raises OSError, msgspec.DecodeError."""
        data = read_bytes(self.state / _CHAIN)
        return Chain() if data is None else msgspec.json.decode(data, type=Chain)

    def write_chain(self, chain: Chain) -> None:
        """Raises OSError."""
        write_whole(self.state / _CHAIN, msgspec.json.format(msgspec.json.encode(chain)) + b"\n", mode=0o600)


def new_folder(root: Path) -> Folder:
    """A new one, for us alone. Raises OSError."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = root / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    path.mkdir(mode=0o700)
    return Folder(path)


def name_after(folder: Folder, job_id: str) -> None:
    """Let the folder be found by the number of a batch job too. Numbers come again: the newest counts."""
    link = folder.path.parent / job_id
    part = folder.path.parent / f".{job_id}.{os.getpid()}"
    with contextlib.suppress(OSError):
        part.symlink_to(folder.path.name)
        part.replace(link)
