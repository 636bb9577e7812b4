"""What every test may use: the public data sets beside the project, where they are."""

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture
def root() -> Path:
    """The top folder of the project."""
    return ROOT


@pytest.fixture
def shared_data() -> Path:
    """The folder of public data sets; only tests marked `shared_data` may ask for it."""
    assert SHARED_DATA.is_dir(), "mark this test with @pytest.mark.shared_data: the data are not on every machine"
    return SHARED_DATA


def pytest_report_header() -> str:
    """Say whether tests over the public data sets are part of this run."""
    return f"shared data: {'there' if SHARED_DATA.is_dir() else 'not on this machine, its tests are left out'}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests over data that this machine has not: nothing that the project must do rests on them."""
    if SHARED_DATA.is_dir():
        return
    absent = [item for item in items if item.get_closest_marker("shared_data")]
    config.hook.pytest_deselected(items=absent)
    items[:] = [item for item in items if item not in absent]
