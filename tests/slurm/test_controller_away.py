"""With the controller away every call of every driver says so soon, whatever the way, and nothing else stands still."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from hedgerow_operator.adapters.slurm.driver import Driver, Unsupported
from hedgerow_operator.reconcile.ports import Unreachable
from tests.slurm.driver_kinds import KINDS, submission
from tests.slurm.testbed.testbed import Testbed

# Slurm's own patience, by default 10 s: it gives up by itself, long before we would cut a call short.
PATIENCE_SECONDS = 4
CUT_SHORT = ("had not ended after", "did not answer within")
# Longest time in which the loop may wait for something else than its turn; one that waited for Slurm would stand still
# for its MessageTimeout of 4 s at least.
LONGEST_PAUSE = 2.5

CALLS: dict[str, Callable[[Driver, Testbed], Awaitable[object]]] = {
    "submit": lambda driver, slurm: driver.submit(submission(slurm)),
    "jobs": lambda driver, slurm: driver.jobs(),
    "job": lambda driver, slurm: driver.job("1"),
    "cancel": lambda driver, slurm: driver.cancel("1"),
    "requeue": lambda driver, slurm: driver.requeue("1", ["n2"]),
    "nodes": lambda driver, slurm: driver.nodes(),
    "drain": lambda driver, slurm: driver.drain("n2", "hedgerow: Xid 79"),
    "resume": lambda driver, slurm: driver.resume("n2"),
}


async def outcome(call: Awaitable[object]) -> tuple[str, str]:
    """How a call ended, and what it said."""
    try:
        result = await call
        return f"answered {result!r}", ""
    except Unsupported:
        return Unreachable.__name__, ""  # there is no such call to make
    except Exception as error:  # noqa: BLE001
        return type(error).__name__, str(error)


def waited_seconds() -> float:
    """For how long this thread has neither run nor waited for a processor, from some moment on."""
    ran, wanted_to = Path("/proc/thread-self/schedstat").read_text().split()[:2]
    return time.monotonic() - (int(ran) + int(wanted_to)) / 1e9


async def pauses(ended: asyncio.Event) -> float:
    """The longest time in which a task that ticks did not, however busy the machine is."""
    longest, last = 0.0, waited_seconds()
    while not ended.is_set():
        await asyncio.sleep(0.02)
        longest, last = max(longest, waited_seconds() - last), waited_seconds()
    return longest


@pytest.fixture(scope="module")
def impatient_slurm() -> Iterator[Testbed]:
    """A cluster whose commands and library give up soon."""
    slurm = Testbed.start(MessageTimeout=str(PATIENCE_SECONDS))
    yield slurm
    slurm.close()


@pytest.fixture
def fresh_slurm(impatient_slurm: Testbed) -> Iterator[Testbed]:
    """The same cluster; what the test does to it is undone afterwards."""
    yield impatient_slurm
    impatient_slurm.heal()


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda slurm: slurm.kill("slurmctld"), id="killed"),
        pytest.param(lambda slurm: slurm.freeze("slurmctld"), id="frozen"),
    ],
)
async def test_every_call_is_unreachable_and_the_loop_goes_on(
    fresh_slurm: Testbed, tmp_path: Path, harm: Callable[[Testbed], None]
) -> None:
    drivers: dict[tuple[str, str], Driver] = {}
    for kind in KINDS:
        for call in CALLS:
            folder = tmp_path / kind / call
            folder.mkdir(parents=True)
            drivers[kind, call] = KINDS[kind](fresh_slurm, folder)
    for driver in drivers.values():  # what a driver finds out once it knows already
        await driver.version()
    harm(fresh_slurm)
    ended = asyncio.Event()
    ticking = asyncio.create_task(pauses(ended))
    found = await asyncio.gather(*(outcome(CALLS[call](driver, fresh_slurm)) for (_, call), driver in drivers.items()))
    ended.set()
    longest = await ticking
    for driver in drivers.values():
        await driver.close()
    told = {names: how for names, (how, _) in zip(drivers, found, strict=True)}
    assert {names: how for names, how in told.items() if how != Unreachable.__name__} == {}
    words = {names: said for names, (_, said) in zip(drivers, found, strict=True)}
    assert {names: said for names, said in words.items() if any(cut in said for cut in CUT_SHORT)} == {}
    assert longest < LONGEST_PAUSE


@pytest.mark.parametrize("kind", KINDS)
async def test_a_driver_goes_on_when_the_controller_is_back(fresh_slurm: Testbed, tmp_path: Path, kind: str) -> None:
    driver = KINDS[kind](fresh_slurm, tmp_path)
    number = await driver.submit(submission(fresh_slurm, hold=""))
    await asyncio.to_thread(fresh_slurm.stop, "slurmctld")  # in order: one that is killed may have lost the job
    assert (await outcome(driver.jobs()))[0] == Unreachable.__name__
    await asyncio.to_thread(fresh_slurm.up)
    assert [job.comment for job in await driver.jobs() if job.id == number] == ["hedgerow:uid:1"]
    await driver.close()
