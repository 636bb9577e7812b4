"""A process that is killed, at whatever moment: its journal tells the next one what had begun."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.money.doubles import ENDPOINT, ScriptedProvider, books

_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.gateway.money.doubles import ENDPOINT, ScriptedProvider, books, held_by

async def main():
    provider, kept = ScriptedProvider(), books(Path({path!r}))
    account, _, _ = kept.parts(ENDPOINT, [provider])
    for number in range(20):
        held = await held_by(account, provider)
        held.taken(f"job-{{number}}")
        await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_after_a_kill_nothing_is_left_without_a_receipt(tmp_path: Path) -> None:
    path, root = tmp_path / "journal.sqlite", str(Path(__file__).parents[3])
    program = _KILLED.format(path=str(path), root=root)
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert done.returncode == -9
    provider, after = ScriptedProvider(), books(path)
    after.parts(ENDPOINT, [provider])
    assert await after.until_quiet(ENDPOINT, 5)
    assert provider.recovered == [f"job-{number}" for number in range(20)]
    assert len(after.receipts()) == 20
    await after.close()


_BUSY = """
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from hedgerow_operator.gateway.ports import Ended, Ending
from tests.gateway.money.doubles import ENDPOINT, ScriptedProvider, books, dollars, held_by

async def one(number, account, provider):
    held = await held_by(account, provider)
    os.write(1, f"begun job-{{number}}\\n".encode())
    await asyncio.sleep(0)
    held.taken(f"job-{{number}}")
    await asyncio.sleep(0.001)
    if number % 2:
        os.write(1, f"ended job-{{number}}\\n".encode())
        held.settle(Ended(ending=Ending.WON, seconds=1.0))

async def main():
    provider, kept = ScriptedProvider(), books(Path({path!r}))
    account, _, _ = kept.parts(ENDPOINT, [provider])
    for number in range(0, 10**6, 4):
        await asyncio.gather(*(one(number + each, account, provider) for each in range(4)))

asyncio.run(main())
"""


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.2, 0.4])
async def test_whenever_the_kill_comes_whatever_had_begun_is_ended_or_told_to_be_unknown(
    tmp_path: Path, seconds: float
) -> None:
    path, root = tmp_path / "journal.sqlite", str(Path(__file__).parents[3])
    program = _BUSY.format(path=str(path), root=root)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = await process.stdout.readline()
    await asyncio.sleep(seconds)
    process.kill()
    lines = (said + await process.stdout.read()).decode().splitlines()
    await process.wait()
    begun = {line.split()[1] for line in lines if line.startswith("begun")}
    ended = {line.split()[1] for line in lines if line.startswith("ended")}
    provider, after = ScriptedProvider(), books(path)
    after.parts(ENDPOINT, [provider])
    assert await after.until_quiet(ENDPOINT, 30)
    given = after.receipts(10_000)
    named = {one.receipt.job_id for one in given if one.receipt.job_id}
    unnamed = [one for one in given if not one.receipt.job_id]
    assert begun
    assert len(begun - ended - named) <= len(unnamed) <= 4
    assert all(one.receipt.leaked for one in unnamed)
    assert named <= begun
    await after.close()
