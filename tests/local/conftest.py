"""A local run that leaves nothing behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.one_box import OneBox
from tests.local.processes import LocalRun


@pytest.fixture
def run(tmp_path: Path) -> Iterator[LocalRun]:
    local_run = LocalRun(tmp_path)
    yield local_run
    local_run.clean()


@pytest.fixture
def box(tmp_path: Path) -> Iterator[OneBox]:
    one_box = OneBox(tmp_path)
    yield one_box
    one_box.clean()
