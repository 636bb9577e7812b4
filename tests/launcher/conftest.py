"""Fixtures: the packed launcher, the report server, and launchers that end with the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow import pack
from tests.launcher.launching import Launch, LauncherProcess
from tests.launcher.operator_double import OperatorDouble


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `hedgerow local` makes it: a launcher of sources alone compiles for longer than it runs here."""
    path = tmp_path_factory.mktemp("archive") / "hedgerow.pyz"
    pack.write(str(path), compiled=True)
    return path


@pytest.fixture
def operator() -> Iterator[OperatorDouble]:
    double = OperatorDouble()
    yield double
    double.close()


@pytest.fixture
def launch(tmp_path: Path, archive: Path, operator: OperatorDouble) -> Iterator[Launch]:
    """``launch(command…, worker=0, reports=True, **environment)`` starts a launcher that ends with the test."""
    started: list[LauncherProcess] = []

    def start(
        *command: str,
        worker: int = 0,
        reports: bool = True,
        options: tuple[str, ...] = (),
        out: int | None = None,
        **settings: str,
    ) -> LauncherProcess:
        folder = tmp_path / f"worker-{worker}"
        folder.mkdir(exist_ok=True)
        launcher = LauncherProcess(
            folder, archive, operator if reports else None, HEDGEROW_WORKER=str(worker), **settings
        )
        started.append(launcher)
        return launcher.start(*command, options=options, out=out)

    yield start
    for launcher in started:
        launcher.end()
