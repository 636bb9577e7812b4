"""What must never happen in the pretended world, looked at after each of its beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.core.step import ENDED

if TYPE_CHECKING:
    from tests.unit.core.world import World


class Watch:
    """Remembers how the job ended, so that it ends once."""

    def __init__(self) -> None:
        self._end: object = None

    def look(self, world: World) -> None:
        """AssertionError when something is so that must never be."""
        alive = {launcher.attempt for launcher in world.everyone if launcher.alive}
        assert len(alive) <= 1, f"two attempts alive: {alive}"
        if world.job is None:
            return
        status = world.status
        assert status.restarts_counted <= world.job.spec.recovery.max_restarts, "maxRestarts exceeded"
        assert status.restarts == max(0, status.attempt - 1), f"{status.restarts} restarts, attempt {status.attempt}"
        if self._end is not None or status.attempt_stage == ENDED:
            self._ends_once(status)

    def _ends_once(self, status: TrainingJobStatus) -> None:
        lasting = [(entry.type, entry.status, entry.reason) for entry in status.conditions if entry.type != "Running"]
        end = (status.attempt_stage, status.completion_time, status.attempt, status.restarts, status.history, lasting)
        self._end = self._end or end
        assert end == self._end, f"the job ended as {self._end}, and then became {end}"
