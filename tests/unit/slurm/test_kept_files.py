"""What launchers of a batch job read at each try is there, whatever is deleted meanwhile."""

import asyncio
from pathlib import Path

import pytest

from hedgerow_operator.cli.slurm.serving import KeptFiles


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("secret\n")
    return path


async def test_what_is_deleted_is_written_again_for_its_owner_alone(token: Path) -> None:
    keeping = asyncio.create_task(KeptFiles(token).keep(seconds=0.01))
    token.unlink()
    async with asyncio.timeout(60):
        while not token.exists():
            await asyncio.sleep(0.01)
    keeping.cancel()
    assert (token.read_text(), token.stat().st_mode & 0o777) == ("secret\n", 0o600)


def test_what_another_has_written_meanwhile_stays(token: Path) -> None:
    kept = KeptFiles(token)
    token.write_text("of the next run\n")
    kept.look()
    assert token.read_text() == "of the next run\n"


def test_where_it_cannot_be_written_it_is_tried_again_the_next_time(token: Path) -> None:
    kept = KeptFiles(token)
    token.unlink()
    token.parent.rmdir()
    token.parent.write_text("no folder")
    kept.look()
    token.parent.unlink()
    kept.look()
    assert token.read_text() == "secret\n"
