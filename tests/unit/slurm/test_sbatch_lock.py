"""Supervisors of one script: the second waits for the first, which may live where Slurm has lost its node."""

import asyncio
from pathlib import Path

import pytest

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.lock import StateLock
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.cli.slurm import supervise


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a person is told."""
    lines: list[str] = []
    monkeypatch.setattr(supervise, "say", lines.append)
    monkeypatch.setattr(supervise, "_LOCK_SECONDS", 0.0)
    return lines


async def test_one_that_goes_on_waits_for_the_supervisor_of_before_however_long(
    tmp_path: Path, said: list[str]
) -> None:
    before = StateLock(StatePaths(tmp_path))
    waiting = asyncio.create_task(supervise._locked(StatePaths(tmp_path), not_first=True))
    async with asyncio.timeout(60):
        while not said:
            await asyncio.sleep(0.05)
        assert said == ["nothing is started yet: the supervisor of the run before still lives, on a node lost to Slurm"]
        assert not waiting.done()
        before.release()
        lock = await waiting
    assert lock is not None
    lock.release()
    assert len(said) == 1


async def test_the_first_one_waits_for_nobody(tmp_path: Path, said: list[str]) -> None:
    other = StateLock(StatePaths(tmp_path))
    with pytest.raises(StateError):
        await supervise._locked(StatePaths(tmp_path), not_first=False)
    other.release()
    assert said == []
