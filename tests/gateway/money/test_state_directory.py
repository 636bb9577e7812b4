"""The state directory of a gateway's process: broken, in use, or not to be written."""

import asyncio
from pathlib import Path

from tests.gateway.money.processes import gateway, written

URLS = {"one": "http://127.0.0.1:1"}


async def said(folder: Path) -> str:
    """By one that ends by itself."""
    async with gateway(folder, told=True) as running, asyncio.timeout(40):
        _out, told = await running.process.communicate()
    return told.decode()


async def test_with_a_broken_journal_it_serves_and_keeps_what_cannot_be_read(tmp_path: Path) -> None:
    folder = written(tmp_path, URLS, hourly="1")
    (folder / "state").mkdir()
    (folder / "state" / "gateway.sqlite").write_bytes(b"no database" * 1000)
    async with gateway(folder) as running:
        assert await running.used() == 0.0
    assert (folder / "state" / "gateway.sqlite.broken").read_bytes() == b"no database" * 1000


async def test_two_on_one_directory_is_a_sentence(tmp_path: Path) -> None:
    folder = written(tmp_path, URLS, hourly="1")
    async with gateway(folder):
        told = await said(folder)
    assert "another gateway uses" in told
    assert "Traceback" not in told


async def test_a_directory_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    folder = written(tmp_path, URLS, hourly="1")
    (folder / "state").write_text("a file")
    told = await said(folder)
    assert "state" in told
    assert "Traceback" not in told
