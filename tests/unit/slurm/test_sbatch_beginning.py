"""A supervisor that cannot begin says so, and leaves the script to Slurm; it never hangs."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.cli.slurm import supervise
from hedgerow_operator.cli.slurm.succession import Succession
from hedgerow_operator.core.slurm.chain import Decision, Turn


class Submitting(Succession):
    """A batch job that follows is being submitted when the supervisor fails."""

    def __init__(self, *_: Any) -> None:
        self._submitting = None
        self.submission: asyncio.subprocess.Process | None = None

    async def turn(self) -> Decision:
        return Decision(Turn.GO_ON)

    async def begin(self) -> None:
        self._submitting = asyncio.create_task(self._submit())

    async def _submit(self) -> None:
        pipe = subprocess.PIPE
        self.submission = await asyncio.create_subprocess_exec(sys.executable, "-c", "", stdout=pipe, stderr=pipe)
        await self.submission.communicate()


def test_it_ends_also_while_the_next_batch_job_is_being_submitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Folder:
        state = tmp_path

        def plan(self) -> None:
            return None

    made: list[Submitting] = []

    def succession(*words: Any) -> Submitting:
        made.append(Submitting(*words))
        return made[0]

    def fails(*_: Any) -> None:
        raise StateError("no room")

    monkeypatch.setattr(supervise, "Succession", succession)
    monkeypatch.setattr(supervise, "name_after", lambda *_: None)
    monkeypatch.setattr(supervise, "Supervisor", fails)
    own: Any = supervise.own_job({"SLURM_JOB_ID": "7"})
    folder: Any = Folder()
    with pytest.raises(StateError, match="no room"):
        asyncio.run(supervise._supervise(folder, own, [], supervise.Progress(), not_first=False))
    assert made[0].submission is not None
    assert made[0].submission.returncode == 0


def test_an_archive_that_another_task_takes_away_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def ensure(paths: StatePaths) -> Path:
        tries.append(paths)
        if len(tries) < 3:
            raise StateError("No such file or directory")
        return tmp_path / "hedgerow.pyz"

    monkeypatch.setattr(supervise, "ensure_archive", ensure)
    monkeypatch.setattr(supervise, "_AGAIN_SECONDS", 0.0)
    assert supervise._archive(StatePaths(tmp_path)) == tmp_path / "hedgerow.pyz"
    assert len(tries) == 3
