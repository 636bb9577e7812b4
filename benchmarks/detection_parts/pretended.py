"""The reports of a pretended job at one moment: what its launchers would say, in the wire format."""

import statistics
from collections import deque
from dataclasses import replace
from typing import Any

from msgspec import structs

from detection_parts.stream import Exit, Interval, Look, Odd, Shape
from hedgerow import wire
from hedgerow.durations import Histogram, add
from hedgerow_operator.core.plan import CALM_INTERVAL_SECONDS
from hedgerow_operator.core.rank_sums import RankSums, sums_of
from hedgerow_operator.core.seen import WORKER_RUNNING, Heard, PlacementSeen, WorkerSeen

UID = "11111111-2222-3333-4444-555555555555"
JOB = wire.JobRef(UID, "ml", "pretended")
# Launchers look at their ranks twice a second, and at stacks once a second from the deadline on.
STACK_FIRST, STACK_SECOND = 0.3, 1.3
# Launchers tell the median of so many steps.
RECENT_STEPS = 33
# Nodes that die are given up by the API server after this long (node-monitor-grace-period of Kubernetes 1.32).
NODE_SILENT_SECONDS = 50.0


class Pretended:
    """One job: who has reported what, and what its ranks have shown."""

    def __init__(self, shape: Shape, start: float) -> None:
        self.shape = shape
        self.step = 0
        self.beats = 0
        self.durations: dict[str, Histogram] = {}
        self._shown: dict[str, Histogram] = {}
        self.heard: dict[int, tuple[wire.Report, float, RankSums]] = {}
        self._newest: deque[float] = deque(maxlen=RECENT_STEPS)
        self._recent = shape.seconds
        self._scan = wire.CheckpointScan(attempt=1)
        self._seq = 0
        self._workers = tuple(
            WorkerSeen(index=index, name=f"pretended-1-{index}", phase=WORKER_RUNNING, node=f"node{index}",
                       running_seconds=100.0)
            for index in range(shape.workers)
        )
        self._start = start

    def finish(self, interval: Interval, now: float) -> None:
        """The next boundary has come: what is learned from it."""
        seconds = interval.seconds
        add(self.durations.setdefault(interval.phase, {}), seconds, self.shape.per_worker)
        self.beats += 1
        self.step += interval.steps
        if interval.phase == wire.PHASE_STEP and interval.steps:
            self._newest.append(seconds / interval.steps)
            self._recent = statistics.median(self._newest)
        if interval.phase == wire.PHASE_CHECKPOINT:
            saved = wire.Checkpoint(self.step, f"/checkpoints/{self.step}", wire.CHECKPOINT_COMPLETE, written=now)
            self._scan = replace(self._scan, candidates=[saved])

    def placements(self, interval: Interval, since: float, now: float) -> tuple[PlacementSeen, ...] | None:
        """As the place where the workers run shows them; None: it cannot be asked."""
        if interval.blind:
            return None
        workers = self._workers
        if interval.dead_nodes and now - since >= NODE_SILENT_SECONDS:
            workers = tuple(
                WorkerSeen(index=worker.index, name=worker.name, phase=worker.phase, node=worker.node,
                           running_seconds=worker.running_seconds, node_silent=worker.index in interval.dead_nodes)
                for worker in workers
            )
        return (PlacementSeen(attempt=1, workers=workers, age_seconds=now - self._start),)

    def listen(self, interval: Interval, since: float, now: float, deadlines: dict[str, float]) -> tuple[Heard, ...]:
        """Every launcher that is heard says how it stands; the others stay as they were."""
        self._seq += 1
        self._shown = {phase: dict(histogram) for phase, histogram in self.durations.items()}
        silent = interval.unheard | interval.dead_nodes
        common = self._template(interval, None, now - since, deadlines)
        odd = self._template(interval, interval.odd, now - since, deadlines) if interval.odd else common
        odd_ranks = frozenset(interval.odd.ranks) if interval.odd else frozenset()
        gone = {rank: entry for entry in interval.exits if now - since >= entry.after for rank in entry.ranks}
        alike: RankSums | None = None
        for worker in range(self.shape.workers):
            if worker in silent:
                self._fell_silent(worker, interval, since)
                continue
            numbers = self._numbers(worker)
            ranks = [
                self._rank(odd if rank in odd_ranks else common, rank, gone.get(rank), now - since) for rank in numbers
            ]
            if not odd_ranks.isdisjoint(numbers) or not gone.keys().isdisjoint(numbers):
                sums = sums_of(ranks)
            else:
                alike = alike or sums_of(ranks)
                sums = _of_others(alike, numbers)
            self.heard[worker] = (self._report(worker, ranks), now, sums)
        return tuple(Heard(report=report, age=now - at, sums=sums) for report, at, sums in self.heard.values())

    def _numbers(self, worker: int) -> range:
        first = worker * self.shape.per_worker
        return range(first, first + self.shape.per_worker)

    def _fell_silent(self, worker: int, interval: Interval, since: float) -> None:
        """Its last report came in calm, on average half an interval before; such looks are left out here."""
        if worker in self.heard and self.heard[worker][1] >= since - CALM_INTERVAL_SECONDS:
            return
        common = self._template(interval, None, 0.0, {})
        ranks = [self._rank(common, rank, None, 0.0) for rank in self._numbers(worker)]
        self.heard[worker] = (self._report(worker, ranks), since - CALM_INTERVAL_SECONDS / 2.0, sums_of(ranks))

    def _report(self, worker: int, ranks: list[wire.RankReport]) -> wire.Report:
        return wire.Report(
            job=JOB, placement=1, worker=worker, workers=self.shape.workers, ranks_per_worker=self.shape.per_worker,
            boot="boot", launcher=f"launcher-{worker}", seq=self._seq, sent_monotonic=0.0, sent_wall=0.0,
            stage=wire.STAGE_RUNNING, attempt=1, node=f"node{worker}", ranks=ranks, durations=self._shown,
            checkpoints=self._scan,
        )

    def _rank(self, template: dict[str, Any], rank: int, gone: Exit | None, age: float) -> wire.RankReport:
        """A report like the template: filled directly, since 16,384 calls of its constructor would take longer than
        the decision.
        """
        report = object.__new__(wire.RankReport)
        report.__dict__.update(template, rank=rank, local_rank=rank % self.shape.per_worker, pid=1000 + rank)
        if gone is not None:
            report.__dict__.update(state=wire.RANK_EXITED, exit_code=gone.code, exit_signal=gone.signal,
                                   exit_age=age - gone.after, output_tail=list(gone.tail))
        return report

    def _template(self, interval: Interval, odd: Odd | None, age: float, deadlines: dict[str, float]) -> dict[str, Any]:
        phase = (odd.phase if odd else None) or interval.phase
        waits = interval.odd is not None and interval.odd.behind and odd is None
        step = self.step + 1 if waits else self.step
        overdue = age - deadlines.get(phase, float("inf"))
        place = odd.place if odd and odd.place else "all_reduce"
        common = wire.RankReport(
            rank=0, local_rank=0, state=wire.RANK_RUNNING, beats=self.beats, step=step if self.beats else None,
            phase=phase, progress_age=age, source=interval.source if self.beats else None, step_seconds=self._recent,
            activity=_activity(odd.look if odd else interval.look, age, overdue),
            stack=_stack(place) if overdue >= STACK_FIRST and _stacks(odd.look if odd else interval.look) else None,
            bursty=interval.bursty, values=interval.values, not_finite=interval.not_finite,
            memory_bytes=(odd.memory_bytes if odd else None) or interval.memory_bytes,
            communication=_communication(interval, odd, self._recent),
        )
        return dict(common.__dict__)


def _of_others(sums: RankSums, numbers: range) -> RankSums:
    """The sums of ranks that say the same: those of a worker like this are made once a look."""
    if not sums.places:
        return sums
    place = next(iter(sums.places.values()))
    return structs.replace(sums, places=dict.fromkeys(numbers, place))


def _communication(interval: Interval, odd: Odd | None, step: float) -> wire.CommunicationReport | None:
    seconds = odd.communication if odd and odd.communication is not None else interval.communication
    return None if seconds is None else wire.CommunicationReport(seconds, share=min(1.0, seconds / step), source="DDP")


def _activity(look: Look, age: float, overdue: float) -> wire.Activity:
    if look is Look.HIDDEN:
        return wire.Activity()
    idle = age if look in (Look.IDLE, Look.STORAGE, Look.STOPPED) else 0.0
    still = overdue - STACK_FIRST if overdue >= STACK_SECOND and _stacks(look) else None
    return wire.Activity(
        process_state={Look.STOPPED: "T", Look.STORAGE: "D", Look.SPINS: "R", Look.WORKS: "R"}.get(look, "S"),
        idle_seconds=age if look is Look.MOVES_BYTES else idle,
        io_idle_seconds=0.0 if look is Look.MOVES_BYTES else age,
        stack_unchanged_seconds=0.0 if still is not None and look in (Look.WORKS, Look.MOVES_BYTES) else still,
    )


def _stacks(look: Look) -> bool:
    """Whether a stack can be taken: not of a process that runs no signal handler."""
    return look not in (Look.STOPPED, Look.STORAGE, Look.HIDDEN)


def _stack(place: str) -> str:
    return (
        "Current thread 0x00007f02 (most recent call first):\n"
        f'  File "/app/train.py", line {100 + len(place)} in {place}\n  File "/app/train.py", line 99 in main\n'
    )
