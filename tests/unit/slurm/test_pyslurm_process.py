"""The process that speaks pyslurm: which version it accepts, and how it hangs, ends and says no."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from hedgerow_operator.adapters.slurm.pyslurm.driver import PySlurmDriver
from hedgerow_operator.adapters.slurm.pyslurm.lines import WrongVersion, line
from hedgerow_operator.adapters.slurm.pyslurm.process import PySlurmProcess
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.reconcile.ports import Refused, Unreachable

FITS = {
    "22.5 with its Slurm": (SimpleNamespace(version=lambda: "22.5.1"), "22.05.8", "22.5"),
    "25.11 with its Slurm": (SimpleNamespace(__version__="25.11.2"), "25.11.0", "25.11"),
    "where nobody knows Slurm's": (SimpleNamespace(__version__="25.11.2"), "", "25.11"),
}
DOES_NOT = {
    "25.11 with Debian 12's Slurm": (
        SimpleNamespace(__version__="25.11.2"),
        "22.05.8",
        r"pyslurm 25\.11\.2 does not fit Slurm 22\.05\.8; install pyslurm 22\.5, or use the CLI driver",
    ),
    "an old one": (SimpleNamespace(version=lambda: "18.08.1"), "", r"18\.08\.1 is not known here; install 22\.5"),
    "one that does not say": (SimpleNamespace(), "22.05.8", "of an unknown version"),
}
RAISES = """
class RPCError(Exception):
    errno = 0
__version__ = "25.11.2"
"""


@pytest.mark.parametrize(("module", "slurm", "found"), FITS.values(), ids=FITS.keys())
def test_it_fits(module: SimpleNamespace, slurm: str, found: str) -> None:
    assert line(module, slurm) == found


@pytest.mark.parametrize(("module", "slurm", "sentence"), DOES_NOT.values(), ids=DOES_NOT.keys())
def test_it_is_refused_with_what_to_install(module: SimpleNamespace, slurm: str, sentence: str) -> None:
    with pytest.raises(WrongVersion, match=sentence):
        line(module, slurm)


Make = Callable[..., PySlurmDriver]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    """A driver whose pyslurm is this text; no Slurm is installed for it."""
    made: list[PySlurmDriver] = []

    def driver(text: str, seconds: float = 30.0) -> PySlurmDriver:
        (tmp_path / "pyslurm.py").write_text(text)
        process = PySlurmProcess({"PYTHONPATH": str(tmp_path), "PATH": "/nowhere"}, seconds)
        made.append(PySlurmDriver(process, "root"))
        return made[-1]

    yield driver
    for one in made:
        await one.close()


async def test_a_module_that_cannot_be_imported_says_what_to_install(make: Make) -> None:
    driver = make("raise ImportError('libslurm.so.43: cannot open shared object file')")
    with pytest.raises(Unreachable, match=r"libslurm\.so\.43.*install the pyslurm of your Slurm's version"):
        await driver.jobs()


async def test_a_version_that_does_not_fit_is_refused_at_the_first_call(make: Make) -> None:
    with pytest.raises(Unreachable, match="is not known here"):
        await make("__version__ = '19.5'").version()


async def test_one_that_crashes_is_started_again(make: Make, tmp_path: Path) -> None:
    crash = "class Jobs:\n    def load():\n        import os; os.kill(os.getpid(), 11)\n"
    driver = make(RAISES + crash)
    with pytest.raises(Unreachable, match=r"ended by itself \(SIGSEGV\)"):
        await driver.jobs()
    assert await driver.version() == "25.11"


async def test_while_it_holds_its_interpreter_the_operator_goes_on_and_ends_it_in_the_end(make: Make) -> None:
    driver = make(RAISES + "class Jobs:\n    def load():\n        import time; time.sleep(600)\n", seconds=1.0)
    listing = asyncio.create_task(driver.jobs())
    turns = 0
    while not listing.done():
        await asyncio.sleep(0.01)
        turns += 1
    with pytest.raises(Unreachable, match="did not answer within 1 s"):
        await listing
    assert turns > 10  # of about a hundred
    assert await driver.version() == "25.11"


async def test_what_pyslurm_prints_is_no_answer(make: Make) -> None:
    assert await make(RAISES + "print('hello')\n").version() == "25.11"


async def test_an_answer_that_nobody_waits_for_any_more_is_not_taken_for_the_next(make: Make) -> None:
    driver = make(RAISES + "class Jobs(dict):\n    def load():\n        import time; time.sleep(1); return Jobs()\n")
    listing = asyncio.create_task(driver.jobs())
    await asyncio.sleep(0)
    listing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listing
    assert await driver.version() == "25.11"


async def test_an_option_that_it_has_nothing_for_is_refused_by_name(make: Make) -> None:
    submission = Submission(name="x", comment="c", script="#!/bin/sh\n", options={"burst-buffer": "x"})
    with pytest.raises(Refused, match="pyslurm has nothing for --burst-buffer; take it out"):
        await make(RAISES).submit(submission)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Socket timed out on send/recv operation", Unreachable),
        ("Unexpected message received", Unreachable),
        ("Requested node configuration is not available", Refused),
    ],
)
async def test_what_a_controller_says_that_is_busy_or_away_refuses_nothing(
    make: Make, words: str, kind: type[Exception]
) -> None:
    driver = make(f"{RAISES}class Jobs:\n    def load():\n        raise RPCError({words!r})\n")
    with pytest.raises(kind, match=words):
        await driver.jobs()
