"""The things of the pretended world: launchers with ranks that step, and placements on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow import wire
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_PENDING, WORKER_RUNNING, PlacementSeen, WorkerSeen
from tests.unit.core.builders import UID

if TYPE_CHECKING:
    from tests.unit.core.world import World

STEP_SECONDS = 0.5
INIT_SECONDS = 2.0
CHECKPOINT_EVERY = 10


class Launcher:
    """One worker's launcher and its ranks, which step together unless told to hang or exit."""

    def __init__(self, placement: int, worker: int, job: TrainingJob, name: str) -> None:
        self.placement, self.worker, self.job, self.name = placement, worker, job, name
        self.attempt, self.stage, self.seq = 0, wire.STAGE_WAITING, 0
        self.time, self.step, self.still = 0.0, 0, 0.0
        self.hang_at: int | None = None
        self.exit_at: int | None = None
        self.tail: list[str] = []
        self.exit_code: int | None = None
        self.heard = True
        self.dead = False
        self.obeys = True
        self.stubborn = False
        self.steps = 10_000
        self.commands: list[str] = []

    @property
    def alive(self) -> bool:
        """Whether a rank of it lives."""
        return not self.dead and self.stage in (wire.STAGE_RUNNING, wire.STAGE_STOPPING) and self.exit_code is None

    def work(self, world: World, seconds: float) -> None:
        """Step, hang or exit as told; save every few steps."""
        if not self.alive or self.stage != wire.STAGE_RUNNING:
            return
        self.time += seconds
        self.still += seconds
        if self.time <= INIT_SECONDS or (self.hang_at is not None and self.step >= self.hang_at) or self._waits(world):
            return
        self.step, self.still = self.step + 1, 0.0
        if self.exit_at is not None and self.step >= self.exit_at:
            self.exit_code = 1
        elif self.step >= self.steps:
            self.exit_code, self.stage = 0, wire.STAGE_STOPPED
        elif self.step % CHECKPOINT_EVERY == 0 and self.worker == 0:
            world.checkpoints.append(wire.Checkpoint(
                step=self.step, path=f"/checkpoints/{self.step}", validity=wire.CHECKPOINT_COMPLETE, written=world.now))

    def _waits(self, world: World) -> bool:
        """An all-reduce: nobody gets ahead of the slowest of its attempt by more than one step."""
        others = [peer for peer in world.launchers if peer.placement == self.placement and peer is not self]
        return any(peer.step < self.step for peer in others if peer.attempt == self.attempt)

    def obey(self, answer: wire.Answer) -> None:
        """Carry out the commands, as the real launcher does."""
        for command in answer.commands:
            self.commands.append(command.kind)
            if not self.obeys or self.dead:
                continue
            if command.kind == wire.COMMAND_START and command.attempt > self.attempt and not self.alive:
                resumed = int(command.resume_from.rsplit("/", 1)[1]) if command.resume_from else 0
                self.attempt, self.stage, self.exit_code = command.attempt, wire.STAGE_RUNNING, None
                self.time, self.step, self.still = 0.0, resumed, 0.0
                if not self.stubborn:
                    self.hang_at = self.exit_at = None
            elif command.kind == wire.COMMAND_STOP and self.attempt <= command.attempt:
                self.stage = wire.STAGE_STOPPED
            elif command.kind == wire.COMMAND_FINISH:
                self.dead = True

    def report(self, world: World) -> wire.Report:
        """What the launcher says now."""
        self.seq += 1
        count = self.job.spec.ranks_per_worker
        scan = wire.CheckpointScan(
            candidates=sorted(world.checkpoints, key=lambda entry: -entry.step)[:8],
            quiet=not self.alive, attempt=self.attempt,
        )
        started = self.stage != wire.STAGE_WAITING
        return wire.Report(
            job=wire.JobRef(UID, "ml", "demo"), placement=self.placement, worker=self.worker,
            workers=self.job.spec.workers, ranks_per_worker=count, boot="boot", launcher=self.name, seq=self.seq,
            sent_monotonic=world.now, sent_wall=world.now, stage=self.stage, attempt=self.attempt,
            free_port=20000, master_port=20000 if started else 0, peer_address=f"10.0.0.{self.worker}:9", nonce="n",
            address=f"10.0.0.{self.worker}", checkpoints=scan,
            ranks=[self._rank(self.worker * count + local) for local in range(count)] if started else [],
            durations={wire.PHASE_STEP: {36: self.step}, wire.PHASE_INIT: {44: 1}} if started and self.step else {},
        )

    def _rank(self, rank: int) -> wire.RankReport:
        running = self.exit_code is None and self.stage != wire.STAGE_STOPPED
        idle = wire.Activity(process_state="S", idle_seconds=self.still, io_idle_seconds=self.still,
                             stack_unchanged_seconds=max(0.0, self.still - 5.0))
        killed = not running and self.exit_code is None
        beats = self.step if self.time > INIT_SECONDS else 0
        return wire.RankReport(
            rank=rank, local_rank=rank % self.job.spec.ranks_per_worker, activity=idle,
            state=wire.RANK_RUNNING if running else wire.RANK_EXITED,
            exit_code=None if running else self.exit_code, exit_signal=9 if killed else None,
            exit_age=None if running else 5.0, beats=beats, step=self.step if beats else None,
            phase=wire.PHASE_STEP if beats else wire.PHASE_INIT, progress_age=self.still,
            source="Library" if beats else None, step_seconds=STEP_SECONDS if beats else None,
            output_tail=list(self.tail),
        )


class Placement:
    """Workers on nodes. A worker on a silent node cannot be removed except by force."""

    def __init__(self, attempt: int, job: TrainingJob, nodes: list[str], now: float) -> None:
        self.attempt, self.created, self.removing = attempt, now, False
        self.nodes = {worker: nodes[worker % len(nodes)] for worker in range(job.spec.workers)}
        self.launchers = [Launcher(attempt, worker, job, f"{attempt}-{worker}") for worker in range(job.spec.workers)]
        self.silent_nodes: set[str] = set()
        self.gone_nodes: set[str] = set()
        self.unschedulable: set[int] = set()
        self.removed: set[int] = set()
        self.deleting: set[int] = set()
        self.forced: list[str] = []

    def seen(self, now: float) -> PlacementSeen:
        """As the API shows it."""
        workers = tuple(self._worker(worker) for worker in self.nodes if worker not in self.removed)
        return PlacementSeen(attempt=self.attempt, workers=workers, removing=self.removing,
                             age_seconds=now - self.created)

    def _worker(self, worker: int) -> WorkerSeen:
        launcher, node = self.launchers[worker], self.nodes[worker]
        waiting = worker in self.unschedulable
        phase = WORKER_PENDING if waiting else WORKER_FAILED if launcher.dead else WORKER_RUNNING
        return WorkerSeen(
            index=worker, name=f"demo-{self.attempt}-{worker}", phase=phase, node="" if waiting else node,
            unschedulable="no node has room" if waiting else "", terminating=self.removing or worker in self.deleting,
            node_silent=node in self.silent_nodes, node_gone=node in self.gone_nodes, running_seconds=60.0,
        )

    def remove(self, force: tuple[str, ...]) -> None:
        """Asked to go."""
        self.removing = True
        self.forced += force
        for worker in self.nodes:
            if f"demo-{self.attempt}-{worker}" in force:
                self.removed.add(worker)

    def settle(self) -> None:
        """Workers that were asked to go leave, where their node can hear it."""
        for worker, node in self.nodes.items():
            if (self.removing or worker in self.deleting) and node not in self.silent_nodes | self.gone_nodes:
                self.launchers[worker].dead = True
                self.removed.add(worker)

    @property
    def gone(self) -> bool:
        """Whether nothing of it is left in the API."""
        return self.removing and len(self.removed) == len(self.nodes)
