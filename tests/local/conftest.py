"""A local run that leaves nothing behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.processes import LocalRun


@pytest.fixture
def run(tmp_path: Path) -> Iterator[LocalRun]:
    local_run = LocalRun(tmp_path)
    yield local_run
    local_run.clean()
