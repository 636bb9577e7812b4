"""Placements of the pretended world, on nodes that fall silent and come back."""

from collections.abc import Callable

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import (
    WORKER_FAILED,
    WORKER_PENDING,
    WORKER_RUNNING,
    WORKER_SUCCEEDED,
    PlacementSeen,
    WorkerSeen,
)
from tests.unit.core.world_launcher import Launcher


class Placement:
    """Workers on nodes. A worker on a silent node cannot be removed except by force."""

    def __init__(
        self, attempt: int, job: TrainingJob, nodes: list[str], now: float, avoided: tuple[str, ...] = ()
    ) -> None:
        self.attempt, self.created, self.removing = attempt, now, False
        self.nodes = {worker: nodes[worker % len(nodes)] for worker in range(job.spec.workers)}
        self.launchers = [
            Launcher(attempt, worker, job, f"{attempt}-{worker}-{now}") for worker in range(job.spec.workers)
        ]
        self.silent_nodes: set[str] = set()
        self.gone_nodes: set[str] = set()
        self.unschedulable: set[int] = set()
        self.removed: set[int] = set()
        self.deleting: set[int] = set()
        self.disrupted: set[int] = set()
        self.forced: list[str] = []
        self.avoided = avoided
        self.beside = False  # whether its pods have containers that never end

    def seen(self, now: float) -> PlacementSeen:
        """As the API shows it."""
        workers = tuple(self._worker(worker) for worker in self.nodes if worker not in self.removed)
        # The Job controller takes a pod that was deleted for a failed one.
        failed = bool(self.removed) and not self.removing
        return PlacementSeen(attempt=self.attempt, workers=workers, removing=self.removing, avoided=self.avoided,
                             ended=WORKER_FAILED if failed else "", age_seconds=now - self.created)

    def _worker(self, worker: int) -> WorkerSeen:
        launcher, node = self.launchers[worker], self.nodes[worker]
        waiting = worker in self.unschedulable
        ended = WORKER_SUCCEEDED if launcher.exit_code == 0 else WORKER_FAILED
        silent = node in self.silent_nodes
        phase = WORKER_PENDING if waiting else ended if launcher.dead and not silent else WORKER_RUNNING
        return WorkerSeen(
            index=worker, name=f"demo-{self.attempt}-{worker}", phase=phase, node="" if waiting else node,
            unschedulable="no node has room" if waiting else "", terminating=self.removing or worker in self.deleting,
            disrupted=worker in self.disrupted, node_silent=silent, node_gone=node in self.gone_nodes,
            running_seconds=60.0, beside=self.beside and launcher.dead,
        )

    def silence(self, worker: int, *, really_dead: bool) -> None:
        """The worker's node can be asked no more: it is cut off, and trains on if it can, or it is dead."""
        self.silent_nodes.add(self.nodes[worker])
        self.launchers[worker].isolated = True
        self.launchers[worker].dead |= really_dead

    def remove(self, force: tuple[str, ...]) -> None:
        """Asked to go."""
        self.removing = True
        self.forced += force
        for worker in self.nodes:
            if f"demo-{self.attempt}-{worker}" in force:
                self.removed.add(worker)

    def settle(self, last_word: Callable[[Launcher], None]) -> None:
        """Workers that were asked to go leave, where their node can hear it; each has a last word."""
        for worker, node in self.nodes.items():
            launcher = self.launchers[worker]
            if node in self.silent_nodes | self.gone_nodes:
                continue
            if worker in self.removed:
                launcher.terminated = True
                continue
            launcher.isolated = False
            if self.removing or worker in self.deleting:
                last_word(launcher)
                launcher.dead = True
                self.removed.add(worker)

    @property
    def gone(self) -> bool:
        """Whether nothing of it is left in the API."""
        return self.removing and len(self.removed) == len(self.nodes)
