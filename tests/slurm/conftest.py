"""One real Slurm cluster for all tests of a process; several processes run side by side, each with its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hedgerow_operator.adapters.slurm.driver import Driver
from tests.slurm.driver_kinds import KINDS
from tests.slurm.testbed.errors import TestbedError
from tests.slurm.testbed.testbed import Testbed

HERE = Path(__file__).parent
# Those that take longest begin first, so that none is left over when the other processes have nothing more to do.
LONGEST_FIRST = (
    "test_jobs.py",
    "test_batch_host.py",
    "test_requeued_jobs.py",
    "test_sbatch_ends.py",
    "test_driver_contract.py",
    "test_driver_contract_ids.py",
    "test_srun_shim.py",
    "test_controller_away.py",
    "test_sbatch_scripts.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, all others in their order."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)) if item.path.parent == HERE else len(places))


def start_or_sentence() -> Testbed | str:
    """The cluster, or why there is none, without the traceback that pytest shows inside an except clause."""
    try:
        return Testbed.start()
    except TestbedError as error:
        return str(error)


@pytest.fixture(scope="session")
def slurm() -> Iterator[Testbed]:
    """The cluster: four idle nodes n1 … n4. It is shared, so leave nothing; or ask for `fresh_slurm`."""
    started = start_or_sentence()
    if isinstance(started, str):
        pytest.fail(started, pytrace=False)
    yield started
    started.close()


@pytest.fixture
def fresh_slurm(slurm: Testbed) -> Iterator[Testbed]:
    """The same cluster; what the test does to it is undone afterwards: jobs, nodes, daemons."""
    yield slurm
    slurm.heal()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """The name of a kind of driver."""
    return str(request.param)


@pytest.fixture
async def driver(kind: str, fresh_slurm: Testbed, tmp_path: Path) -> AsyncIterator[Driver]:
    """A driver of this kind."""
    made = KINDS[kind](fresh_slurm, tmp_path)
    yield made
    await made.close()
