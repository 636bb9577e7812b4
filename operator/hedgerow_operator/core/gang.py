"""The gang of one attempt: what its launchers last said, joined with where their workers run."""

from operator import attrgetter

from msgspec import Struct

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
from hedgerow_operator.core.rank_reports import absolute, speaker, with_progress_of
from hedgerow_operator.core.seen import WORKER_FAILED, WORKER_SUCCEEDED, Heard, PlacementSeen, Seen, WorkerSeen

# A launcher with live ranks that can reach us is heard within two calm intervals. Where it is refused since its pod is
# gone from the API, its ranks may take their grace to end besides.
STRAY_SECONDS = 10.0


class RankView(Struct, frozen=True, kw_only=True):
    """One rank of the current attempt as its launcher last reported it, ``age`` seconds ago."""

    rank: int
    worker: int
    node: str
    age: float
    report: RankReport

    @property
    def exited(self) -> bool:
        """Whether the process has ended."""
        return self.report.state == RANK_EXITED

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than by exit code 0."""
        return self.exited and (self.report.exit_code != 0 or self.report.exit_signal is not None)

    @property
    def exited_seconds(self) -> float:
        """Seconds since it ended."""
        return (self.report.exit_age or 0.0) + self.age


class Gang(Struct, frozen=True, kw_only=True):
    """Everything known of the current placement's workers.

    launchers: newest report by worker. fresh: workers whose launcher was heard within the report timeout.
    ranks: ranks of the current attempt from fresh launchers, by global rank. placement: None when it is not there.
    listened: for so long (listening_seconds) that the silence of a launcher means something. strays: attempts of other
    placements whose launchers were just heard with ranks alive, whatever the place where they ran shows.
    """

    workers: int
    ranks_per_worker: int
    attempt: int
    launchers: dict[int, Heard]
    fresh: frozenset[int]
    ranks: tuple[RankView, ...]
    placement: PlacementSeen | None
    listened: bool = True
    listening_seconds: float = 0.0
    strays: tuple[int, ...] = ()

    @property
    def expected(self) -> int:
        """Number of ranks that the attempt should have."""
        return self.workers * self.ranks_per_worker

    @property
    def silent(self) -> tuple[int, ...]:
        """Workers that were not heard within the report timeout."""
        return tuple(worker for worker in range(self.workers) if worker not in self.fresh)

    @property
    def live(self) -> tuple[RankView, ...]:
        """Ranks that have not ended."""
        return tuple(rank for rank in self.ranks if not rank.exited)

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
        workers = self.placement.workers if self.placement else ()
        return next((worker for worker in workers if worker.index == index), None)

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
    current = [heard for worker, heard in launchers.items()
               if worker in fresh and heard.report.attempt == status.attempt]
    return Gang(
        workers=job.spec.workers,
        ranks_per_worker=job.spec.ranks_per_worker,
        attempt=status.attempt,
        launchers=launchers,
        fresh=fresh,
        ranks=_ranks(current, nodes, status.resume_step or 0),
        placement=placement,
        listened=seen.listening_seconds >= timeout,
        listening_seconds=seen.listening_seconds,
        strays=_strays(seen, status.placement, STRAY_SECONDS + job.spec.recovery.grace_seconds),
    )


def _ranks(launchers: list[Heard], nodes: dict[int, str], resumed: int) -> tuple[RankView, ...]:
    speaks = speaker(report for heard in launchers for report in heard.report.ranks)
    views = []
    for heard in launchers:
        worker, age = heard.report.worker, heard.age
        node = nodes.get(worker, "") or heard.report.node
        for report in heard.report.ranks:
            said = absolute(report, resumed) if speaks is None else with_progress_of(report, speaks)
            views.append(RankView(rank=said.rank, worker=worker, node=node, age=age, report=said))
    return tuple(sorted(views, key=attrgetter("rank")))


def _strays(seen: Seen, placement: int, seconds: float) -> tuple[int, ...]:
    """A pod that was deleted by force is gone from the API while its processes may live on. Local ones are seen."""
    if not seen.fences_by_time:
        return ()
    alive = {
        heard.report.attempt for heard in seen.heard
        if heard.report.placement != placement and heard.age <= seconds
        and heard.report.stage in (STAGE_RUNNING, STAGE_STOPPING)
    }
    return tuple(sorted(alive))
