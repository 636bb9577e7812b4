"""Scenarios that take long and mostly wait are played at the same time, each on a cluster of its own."""

import queue
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.slurm_run import SlurmRun
from tests.slurm.testbed.testbed import Testbed

Scenario = Callable[[SlurmRun], None]
WIDTH = 5


class AtOnce:
    """Plays the wanted ones of these scenarios, in their order, so many at a time; `result` raises what one raised."""

    def __init__(self, scenarios: Mapping[str, Scenario], wanted: Iterable[str], folder: Path) -> None:
        self._folder = folder
        self._clusters: queue.Queue[Testbed | None] = queue.Queue()
        for _ in range(WIDTH):
            self._clusters.put(None)  # started when it is needed
        self._pool = ThreadPoolExecutor(WIDTH)
        chosen = set(wanted)
        self._futures: dict[str, Future[None]] = {
            name: self._pool.submit(self._play, number, scenario)
            for number, (name, scenario) in enumerate(scenarios.items())
            if name in chosen
        }

    def result(self, name: str) -> None:
        """Wait for it."""
        self._futures[name].result()

    def close(self) -> None:
        """End what is still under way."""
        self._pool.shutdown(cancel_futures=True)
        while not self._clusters.empty():
            testbed = self._clusters.get()
            if testbed is not None:
                testbed.close()

    def _play(self, number: int, scenario: Scenario) -> None:
        testbed = self._clusters.get()
        try:
            testbed = testbed or Testbed.start()
            run = SlurmRun(testbed, self._folder / str(number))
            try:
                scenario(run)
                assert run.overlaps == []
            finally:
                run.clean()
                testbed.heal()
        finally:
            self._clusters.put(testbed)


def under_way(scenarios: Mapping[str, Scenario], parameter: str) -> Any:
    """A fixture of a module whose tests have the names of scenarios as a parameter: those asked for, being played."""

    @pytest.fixture(scope="module")
    def playing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtOnce]:
        of_module = [item for item in request.session.items if item.path == request.path]
        parameters = [item.callspec.params for item in of_module if hasattr(item, "callspec")]
        wanted = {found[parameter] for found in parameters if parameter in found}
        played = AtOnce(scenarios, wanted, tmp_path_factory.mktemp("scenarios"))
        yield played
        played.close()

    return playing
