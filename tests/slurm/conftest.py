"""One real Slurm cluster for all tests of a run."""

from collections.abc import Iterator

import pytest

from tests.slurm.sbatch_parts.played import play
from tests.slurm.sbatch_parts.submitting import Case
from tests.slurm.testbed.errors import TestbedError
from tests.slurm.testbed.testbed import Testbed


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


@pytest.fixture(scope="session")
def sbatch_cases(slurm: Testbed, request: pytest.FixtureRequest) -> dict[str, Case]:
    """The scripts that hedgerow sbatch submits, as far as the tests of this run want them, when all have ended."""
    files = {item.path.name for item in request.session.items}
    played = play(slurm, "test_sbatch_scripts.py" in files, "test_sbatch_ends.py" in files)
    slurm.heal()
    return played


@pytest.fixture
def fresh_slurm(slurm: Testbed) -> Iterator[Testbed]:
    """The same cluster; what the test does to it is undone afterwards: jobs, nodes, daemons."""
    yield slurm
    slurm.heal()
