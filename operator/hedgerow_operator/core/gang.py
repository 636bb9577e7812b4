"""The gang of one attempt: what its launchers last said, joined with where their workers run."""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from operator import attrgetter
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from hedgerow.wire import (
    RANK_EXITED,
    STAGE_RUNNING,
    STAGE_STOPPED,
    STAGE_STOPPING,
    STAGE_WAITING,
    RankReport,
    Report,
)
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.rank_reports import absolute, progressing_as, speaker, tells
from hedgerow_operator.core.rank_sums import RankSums, spoken_for, sums_of, together
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_SUCCEEDED, Heard, PlacementSeen, Seen, WorkerSeen
from hedgerow_operator.core.stacks import Frame, place

# A launcher with live ranks that can reach us is heard within two calm intervals. Where it is refused since its pod is
# gone from the API, its ranks may take their grace to end besides.
STRAY_SECONDS = 10.0


class RankView(Struct, frozen=True, gc=False):
    """One rank of the current attempt as its launcher last reported it, ``age`` seconds ago.

    own: what is said of it. found_at: where its main thread stands, if its stack was read already. spoken: the report
    of the rank that prints for all, where this one tells no progress of its own.
    """

    rank: int
    worker: int
    node: str
    age: float
    own: RankReport
    found_at: Frame | UnsetType | None = UNSET
    spoken: RankReport | None = None

    @property
    def report(self) -> RankReport:
        """What is said of it, with its progress."""
        return self.own if self.spoken is None else progressing_as(self.own, self.spoken)

    @property
    def progress(self) -> RankReport:
        """The report that tells its progress: of thousands of ranks nothing is copied to read it."""
        return self.spoken or self.own

    @property
    def place(self) -> Frame | None:
        """Where its main thread stands, None when that is not known."""
        return place(self.own.stack) if self.found_at is UNSET else self.found_at

    @property
    def exited(self) -> bool:
        """Whether the process has ended."""
        return self.own.state == RANK_EXITED

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than by exit code 0."""
        own = self.own
        return own.state == RANK_EXITED and (own.exit_code != 0 or own.exit_signal is not None)

    @property
    def exited_seconds(self) -> float:
        """Seconds since it ended."""
        return (self.own.exit_age or 0.0) + self.age


class Roster(Sequence[RankView]):
    """The ranks that some launchers report, by global number; written out when somebody asks for one of them."""

    def __init__(self, launchers: Sequence[Heard], nodes: Mapping[int, str], resumed: int) -> None:
        self._launchers, self._nodes, self._resumed = launchers, nodes, resumed
        self._views: tuple[RankView, ...] | None = None
        self._parts = [heard.sums or sums_of(heard.report.ranks) for heard in launchers]
        self._sums = together(self._parts)
        self._speaks = speaker(_of_speakers(launchers, self._parts)) if self._sums.speaks else None

    def of(self, workers: Set[int]) -> "Roster":
        """The ranks of some of the workers."""
        launchers = [heard for heard in self._launchers if heard.report.worker in workers]
        return Roster(launchers, self._nodes, self._resumed)

    @property
    def sums(self) -> RankSums:
        """The sums of all."""
        return self._sums if self._speaks is None else spoken_for(self._sums, self._speaks)

    @property
    def speakers(self) -> "Roster":
        """The ranks of the workers where one tells its progress by its log."""
        parts = zip(self._launchers, self._parts, strict=True)
        return self.of({heard.report.worker for heard, part in parts if part.speaks})

    def __len__(self) -> int:
        return self._sums.count

    def __iter__(self) -> Iterator[RankView]:
        return iter(self._written())

    def __getitem__(self, index: Any) -> Any:
        return self._written()[index]

    def _written(self) -> tuple[RankView, ...]:
        if self._views is None:
            self._views = _views(self._launchers, self._nodes, self._resumed, self._sums, self._speaks)
        return self._views


class Gang(Struct, frozen=True, kw_only=True, dict=True):
    """Everything known of the current placement's workers.

    launchers: newest report by worker. fresh: workers whose launcher was heard within the report timeout.
    ranks: ranks of the current attempt from fresh launchers, by global rank. placement: None when it is not there.
    listened: for so long (listening_seconds) that the silence of a launcher means something. strays: attempts of other
    placements whose launchers were just heard with ranks alive, whatever the place where they ran shows. resumed: the
    step that the attempt went on from. quiet: as in Seen.
    """

    workers: int
    ranks_per_worker: int
    attempt: int
    launchers: dict[int, Heard]
    fresh: frozenset[int]
    ranks: Sequence[RankView]
    placement: PlacementSeen | None
    listened: bool = True
    listening_seconds: float = 0.0
    strays: tuple[int, ...] = ()
    resumed: int = 0
    quiet: Mapping[int, str] = {}

    @cached_property
    def sums(self) -> RankSums:
        """What all ranks say together."""
        return self.ranks.sums if isinstance(self.ranks, Roster) else sums_of(rank.report for rank in self.ranks)

    @property
    def step(self) -> int | None:
        """The step that every rank has reached, None while some rank names none. Written out ranks count the job's."""
        written_out = not isinstance(self.ranks, Roster) or self.sums.speaks
        return self.sums.step(0 if written_out else self.resumed)

    @property
    def starts_once(self) -> bool:
        """Whether some launcher can start no further attempt."""
        return any(heard.report.once for heard in self.launchers.values())

    @property
    def expected(self) -> int:
        """Number of ranks that the attempt should have."""
        return self.workers * self.ranks_per_worker

    @cached_property
    def silent(self) -> tuple[int, ...]:
        """Workers that were not heard within the report timeout."""
        return tuple(worker for worker in range(self.workers) if worker not in self.fresh)

    @cached_property
    def live(self) -> tuple[RankView, ...]:
        """Ranks that have not ended."""
        if self.sums.live == self.sums.count:
            return tuple(self.ranks)
        return tuple([rank for rank in self.ranks if rank.own.state != RANK_EXITED])

    @cached_property
    def told(self) -> tuple[RankReport, ...]:
        """The reports that tell the progress of the live ranks, one for each."""
        return tuple([rank.spoken or rank.own for rank in self.live])

    @cached_property
    def ended_ranks(self) -> tuple[RankView, ...]:
        """Ranks that have ended."""
        if self.sums.live == self.sums.count:
            return ()
        return tuple([rank for rank in self.ranks if rank.own.state == RANK_EXITED])

    @cached_property
    def ended_well_seconds(self) -> float:
        """Seconds since the last rank that ended with exit code 0 did so; 0.0: none has."""
        ended = [
            (rank.own.exit_age or 0.0) + rank.age
            for rank in self.ended_ranks
            if rank.own.exit_code == 0 and rank.own.exit_signal is None
        ]
        return min(ended, default=0.0)

    def named(self, numbers: Collection[int]) -> list[RankView]:
        """The ranks of these global numbers."""
        wanted = frozenset(numbers)
        return [rank for rank in self.ranks if rank.rank in wanted] if wanted else []

    @property
    def speakers(self) -> Sequence[RankView]:
        """The ranks of the workers where one tells its progress by its log, whoever else is among them."""
        if not self.sums.speaks:
            return ()
        return self.ranks.speakers if isinstance(self.ranks, Roster) else self.ranks

    def report(self, worker: int) -> Report | None:
        """The newest report of this worker's launcher, fresh or not."""
        heard = self.launchers.get(worker)
        return heard.report if heard else None

    def silence(self, worker: int) -> float:
        """Seconds since this worker's launcher was heard, as far as anybody listened."""
        heard = self.launchers.get(worker)
        return heard.age if heard else self.listening_seconds

    def worker(self, index: int) -> WorkerSeen | None:
        """The pod or process group of this worker, None when there is none."""
        return self._by_index.get(index)

    @cached_property
    def _by_index(self) -> dict[int, WorkerSeen]:
        """Of several with one index the first."""
        return {worker.index: worker for worker in reversed(self.placement.workers)} if self.placement else {}

    def idle(self, worker: int) -> bool:
        """Whether a fresh report says that no rank of any attempt is alive at this worker."""
        report = self.report(worker)
        return worker in self.fresh and report is not None and report.stage in (STAGE_WAITING, STAGE_STOPPED)

    def ended(self, worker: int) -> bool:
        """Whether this worker's container or process group is over, so that nothing of it can be alive."""
        seen = self.worker(worker)
        return seen is not None and seen.phase in (WORKER_SUCCEEDED, WORKER_FAILED)

    def started(self, worker: int) -> bool:
        """Whether this worker's launcher says that it began the current attempt."""
        report = self.report(worker)
        return report is not None and report.attempt == self.attempt and report.stage != STAGE_WAITING

    def ranks_of(self, worker: int) -> tuple[int, ...]:
        """Global numbers of this worker's ranks."""
        first = worker * self.ranks_per_worker
        return tuple(range(first, first + self.ranks_per_worker))


def gather(job: TrainingJob, seen: Seen) -> Gang:
    """The gang of the job's current placement and attempt."""
    status, timeout = job.status, job.spec.health.report_timeout_seconds
    mine = [heard for heard in seen.heard if heard.report.placement == status.placement]
    launchers: dict[int, Heard] = {}
    for heard in sorted(mine, key=lambda entry: entry.age, reverse=True):
        if 0 <= heard.report.worker < job.spec.workers:
            launchers[heard.report.worker] = heard
    placement = next((entry for entry in seen.placements or () if entry.attempt == status.placement), None)
    nodes = {worker.index: worker.node for worker in placement.workers} if placement else {}
    fresh = frozenset(worker for worker, heard in launchers.items() if heard.age <= timeout)
    current = [
        heard for worker, heard in launchers.items() if worker in fresh and heard.report.attempt == status.attempt
    ]
    return Gang(
        workers=job.spec.workers,
        ranks_per_worker=job.spec.ranks_per_worker,
        attempt=status.attempt,
        launchers=launchers,
        fresh=fresh,
        ranks=Roster(current, nodes, status.resume_step or 0),
        placement=placement,
        listened=seen.listening_seconds >= timeout,
        listening_seconds=seen.listening_seconds,
        strays=_strays(seen, status.placement, STRAY_SECONDS + job.spec.grace_seconds),
        resumed=status.resume_step or 0,
        quiet=seen.quiet,
    )


def _views(
    launchers: Sequence[Heard], nodes: Mapping[int, str], resumed: int, sums: RankSums, speaks: RankReport | None
) -> tuple[RankView, ...]:
    """Of thousands of ranks: each step of this loop counts."""
    as_they_are = speaks is not None or not resumed or sums.least_torch_step is None
    spoken = None if sums.telling is None else speaks
    views: list[RankView] = []
    for heard in sorted(launchers, key=attrgetter("report.worker")):
        worker, age, found_at, reports = heard.report.worker, heard.age, sums.places.get, heard.report.ranks
        node = nodes.get(worker, "") or heard.report.node
        said = reports if as_they_are else [absolute(report, resumed) for report in reports]
        if spoken is None and not sums.places:
            views += [RankView(report.rank, worker, node, age, report, None) for report in said]
        elif spoken is None:
            views += [RankView(report.rank, worker, node, age, report, found_at(report.rank)) for report in said]
        else:
            views += [
                RankView(
                    report.rank, worker, node, age, report, found_at(report.rank), None if tells(report) else spoken
                )
                for report in said
            ]
    return tuple(sorted(views, key=attrgetter("rank")))


def _of_speakers(launchers: Sequence[Heard], parts: Sequence[RankSums]) -> Iterator[RankReport]:
    speaking = (heard for heard, part in zip(launchers, parts, strict=True) if part.speaks)
    return (report for heard in speaking for report in heard.report.ranks)


def _strays(seen: Seen, placement: int, seconds: float) -> tuple[int, ...]:
    """A pod that was deleted by force is gone from the API while its processes may live on. Local ones are seen."""
    if not seen.fences_by_time:
        return ()
    alive = {
        heard.report.attempt
        for heard in seen.heard
        if heard.report.placement != placement
        and heard.age <= seconds
        and heard.report.stage in (STAGE_RUNNING, STAGE_STOPPING)
    }
    return tuple(sorted(alive))
