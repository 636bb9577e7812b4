"""A launcher of the pretended world, with ranks that step together and a fence of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hedgerow import wire
from hedgerow_operator.api.training_job import TrainingJob
from tests.unit.core.builders import UID

if TYPE_CHECKING:
    from tests.unit.core.world import World

STEP_SECONDS = 0.5
INIT_SECONDS = 2.0
CHECKPOINT_EVERY = 10


class Launcher:
    """One worker's launcher and its ranks, which step together unless told to hang or exit.

    says: what else its ranks report. heard: its reports reach the operator.
    isolated: neither the operator nor its peers can be reached, or reach it.
    terminated: its place has sent SIGTERM, though the API may have forgotten it. answers_late: seconds that answers
    are under way. slow_stop: seconds from stop to the last rank's end.
    stride: steps in a tick of the world.
    """

    def __init__(self, placement: int, worker: int, job: TrainingJob, name: str) -> None:
        self.placement, self.worker, self.job, self.name = placement, worker, job, name
        self.attempt, self.stage, self.seq = 0, wire.STAGE_WAITING, 0
        self.time, self.step, self.still = 0.0, 0, 0.0
        self.stride = 1
        self.hang_at: int | None = None
        self.exit_at: int | None = None
        self.tail: list[str] = []
        self.says: Callable[[wire.RankReport, float], wire.RankReport] = lambda rank, now: rank
        self.memory_limit: int | None = None
        self.once = False
        self.exit_code: int | None = None
        self.stop_cause: str | None = None
        self.heard = self.obeys = True
        self.isolated = self.dead = self.stubborn = self.frozen = self.terminated = False
        self.current_at = self.ended_at = 0.0
        self.answers_late, self.slow_stop, self.stops_in = 0.0, 0.0, 0.0
        self.inbox: list[tuple[float, float, wire.Answer]] = []
        self.steps = 10_000
        self.commands: list[str] = []

    @property
    def alive(self) -> bool:
        """Whether a rank of it lives."""
        return not self.dead and self.stage in (wire.STAGE_RUNNING, wire.STAGE_STOPPING)

    @property
    def reachable(self) -> bool:
        """Whether the operator hears it."""
        return self.heard and not (self.isolated or self.dead or self.terminated)

    def work(self, world: World, seconds: float) -> None:
        """Take in answers; step, hang or exit as told; save every few steps; kill the ranks when fenced."""
        if self.dead:
            return
        self._read(world)
        if self.terminated and not self._goes_on_stopping(world):
            return
        if self.stage == wire.STAGE_STOPPING:
            self.stops_in -= seconds
            if self.stops_in <= 0:
                self.stage, self.ended_at = wire.STAGE_STOPPED, world.now
        if self.stage != wire.STAGE_RUNNING:
            return
        if self._must_fence(world):
            self._stop(world, wire.STOP_FENCE)
            return
        self._step(world, seconds)

    def _goes_on_stopping(self, world: World) -> bool:
        """After SIGTERM: the ranks are stopped, then the launcher ends."""
        if self.stage == wire.STAGE_RUNNING:
            self._stop(world, wire.STOP_SIGNAL)
        self.dead = not self.alive
        return self.alive

    def _step(self, world: World, seconds: float) -> None:
        self.time += seconds
        self.still += seconds
        hangs = self.frozen or (self.hang_at is not None and self.step >= self.hang_at)
        if self.time <= INIT_SECONDS or hangs or self._waits(world):
            return
        before, self.step, self.still = self.step, self.step + self.stride, 0.0
        if self.exit_at is not None and self.step >= self.exit_at:
            self._end(world, 1)
        elif self.step >= self.steps:
            self._end(world, 0)
        elif self.step // CHECKPOINT_EVERY > before // CHECKPOINT_EVERY and self.worker == 0:
            world.save(self.step)

    def _end(self, world: World, code: int) -> None:
        self.exit_code, self.stage, self.stop_cause = code, wire.STAGE_STOPPED, wire.STOP_ENDED
        self.ended_at = world.now

    def _stop(self, world: World, cause: str) -> None:
        self.stop_cause, self.stops_in, self.ended_at = cause, self.slow_stop, world.now
        self.stage = wire.STAGE_STOPPING if self.slow_stop else wire.STAGE_STOPPED

    def _peers(self, world: World) -> list[Launcher]:
        return [peer for peer in world.everyone if peer.placement == self.placement and peer is not self]

    def _waits(self, world: World) -> bool:
        """An all-reduce: nobody gets ahead of the slowest of its attempt by more than one step."""
        mates = [peer for peer in self._peers(world) if peer.attempt == self.attempt and peer.exit_code != 0]
        return any(peer.step < self.step or peer.dead for peer in mates)

    def _must_fence(self, world: World) -> bool:
        """The launcher's own rule: no current answer, not even by a peer, and not the whole gang around."""
        limit, workers = self.job.spec.recovery.fence_seconds, self.job.spec.workers
        if workers < 2 or world.now - self.current_at < limit:
            return False
        heard = [peer for peer in self._peers(world) if not (self.isolated or peer.isolated or peer.dead)]
        running = [peer for peer in heard if peer.attempt == self.attempt and peer.stage == wire.STAGE_RUNNING]
        if any(world.now - peer.current_at < limit for peer in running):
            return False
        return len(running) < workers - 1

    def send(self, world: World, answer: wire.Answer) -> None:
        """An answer to what it just reported is on its way."""
        self.inbox.append((world.now + self.answers_late, world.now, answer))

    def _read(self, world: World) -> None:
        due = [entry for entry in self.inbox if entry[0] <= world.now]
        self.inbox = [entry for entry in self.inbox if entry[0] > world.now]
        for _, sent, answer in due:
            if not self.isolated:
                self._obey(world, answer, sent)

    def _obey(self, world: World, answer: wire.Answer, sent: float) -> None:
        """Carry out the commands, as the real launcher does."""
        if answer.current and self.stage == wire.STAGE_RUNNING:
            self.current_at = max(self.current_at, sent)
        for command in answer.commands:
            self.commands.append(command.kind)
            if not self.obeys:
                continue
            if command.kind == wire.COMMAND_START and command.attempt > self.attempt and not self.alive:
                self._start(world, command, sent)
            elif command.kind == wire.COMMAND_STOP and self.stage == wire.STAGE_RUNNING:
                if self.attempt <= command.attempt:
                    self._stop(world, wire.STOP_COMMAND)
            elif command.kind == wire.COMMAND_FINISH:
                self.dead = True
                self.exit_code = self.exit_code if self.exit_code is not None else command.exit_code

    def _start(self, world: World, command: wire.Command, sent: float) -> None:
        self.attempt, self.stage = command.attempt, wire.STAGE_RUNNING
        self.exit_code = self.stop_cause = None
        self.time, self.step, self.still = 0.0, world.resumed(command), 0.0
        self.current_at, self.frozen = sent, False
        if not self.stubborn:
            self.hang_at = self.exit_at = None

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
            stop_cause=self.stop_cause, free_port=20000, master_port=20000 if started else 0,
            peer_address=f"10.0.0.{self.worker}:9", nonce="n", address=f"10.0.0.{self.worker}", checkpoints=scan,
            ranks=[self.says(self._rank(world, self.worker * count + local), world.now) for local in range(count)]
            if started else [],
            memory_limit_bytes=self.memory_limit, once=self.once,
            durations={wire.PHASE_STEP: {36: self.step}, wire.PHASE_INIT: {44: 1}} if started and self.step else {},
        )

    def _rank(self, world: World, rank: int) -> wire.RankReport:
        running = self.alive
        activity = wire.Activity(
            process_state="T" if self.frozen else "S", idle_seconds=self.still, io_idle_seconds=self.still,
            stack_unchanged_seconds=max(0.0, self.still - 5.0),
        )
        killed = not running and self.exit_code is None
        beats = self.step if self.time > INIT_SECONDS else 0
        return wire.RankReport(
            rank=rank, local_rank=rank % self.job.spec.ranks_per_worker, activity=activity,
            state=wire.RANK_RUNNING if running else wire.RANK_EXITED,
            exit_code=None if running else self.exit_code, exit_signal=9 if killed else None,
            exit_age=None if running else world.now - self.ended_at, beats=beats, step=self.step if beats else None,
            phase=wire.PHASE_STEP if beats else wire.PHASE_INIT, progress_age=self.still,
            source="Library" if beats else None, step_seconds=STEP_SECONDS if beats else None,
            output_tail=list(self.tail),
        )
