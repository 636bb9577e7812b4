"""What launchers said last, and the answers they wait for. In memory only: after a restart they say it again."""

import asyncio
import contextlib
import dataclasses
import math
from collections.abc import Callable, Mapping

import msgspec

from hedgerow.wire import STAGE_RUNNING, STAGE_STOPPED, STAGE_STOPPING, Answer, Report
from hedgerow_operator.core.noteworthy import look_within
from hedgerow_operator.core.orders import answer_for
from hedgerow_operator.core.plan import Orders
from hedgerow_operator.core.rank_sums import RankSums, sums_of
from hedgerow_operator.core.seen import Heard

# Launchers of placements that are not current any more are remembered this long, for fencing.
FORGET_SECONDS = 900.0
# A deadline that moved by less than this share can wait for the next regular answer.
DEADLINE_SHARE = 0.2


class _Job:
    def __init__(self, orders: Orders, now: float) -> None:
        self.orders = orders
        self.since = now
        self.heard: dict[tuple[int, int], tuple[Report, float]] = {}
        self.sums: dict[tuple[int, int], RankSums] = {}
        self.told: dict[tuple[int, int], Mapping[str, float]] = {}
        self.waiting: dict[tuple[int, int], asyncio.Event] = {}

    def wake(self, place: tuple[int, int]) -> None:
        """Whoever waits for an answer to this launcher looks again."""
        event = self.waiting.pop(place, None)
        if event is not None:
            event.set()

    def wake_all(self) -> None:
        """Likewise for every launcher."""
        for place in list(self.waiting):
            self.wake(place)

    def overtaken(self, report: Report) -> bool:
        """Whether the launcher has sent a newer report than this one."""
        newest = self.heard.get((report.placement, report.worker))
        return newest is not None and newest[0].launcher == report.launcher and newest[0].seq > report.seq


class ReportHub:
    """Newest report of every launcher, by job uid. ``clock``: monotonic seconds. ``longest_interval``: seconds after
    which launchers report again, also in calm.

    ``on_report`` is called with the uid of a job whose newest report deserves a look, and within how many seconds.
    ``on_heard`` is called with every new report, and says whether it deserves a look at once.
    """

    def __init__(self, clock: Callable[[], float], longest_interval: float = math.inf) -> None:
        self._clock = clock
        self._longest_interval = longest_interval
        self._jobs: dict[str, _Job] = {}
        self.on_report: Callable[[str, float], None] = lambda uid, seconds: None
        self.on_heard: Callable[[Report], bool] = lambda report: False

    def uid_known(self, uid: str) -> bool:
        """Whether there is such a job here; reports of others cannot be answered."""
        return uid in self._jobs

    def listening_seconds(self, uid: str) -> float:
        """How long the launchers of this job could have been heard: reports of a job not known yet are refused."""
        job = self._jobs.get(uid)
        return self._clock() - job.since if job else 0.0

    def receive(self, report: Report) -> None:
        """Remember a report, unless it is older than one of the same launcher that is known already."""
        job = self._jobs.get(report.job.uid)
        if job is None:
            return
        place = (report.placement, report.worker)
        old = job.heard.get(place)
        if old is not None and old[0].launcher == report.launcher and old[0].seq >= report.seq:
            return
        job.heard[place] = (report, self._clock())
        job.sums[place] = sums_of(report.ranks)
        job.wake(place)
        seconds = 0.0 if self.on_heard(report) else look_within(old[0] if old else None, report, job.orders)
        if seconds is not None:
            self.on_report(report.job.uid, seconds)

    async def answer(self, report: Report) -> Answer:
        """The answer, as soon as there is a command, the deadlines have changed, or the next report is due or there.

        A launcher with urgent news drops the oldest of its open requests; one that is answered as soon as the next has
        come is never dropped, so that the launcher hears that its attempt is current however much it has to tell.
        """
        place = (report.placement, report.worker)
        asked = self._clock()
        while True:
            job = self._jobs.get(report.job.uid)
            if job is None:
                # Gone while its launcher waited: nothing is confirmed, nothing ordered.
                return Answer(current=False)
            answer = answer_for(job.orders, report)
            left = asked + job.orders.interval_seconds - self._clock()
            due = left <= 0 or job.overtaken(report)
            if answer.commands or due or differ(job.told.get(place, {}), answer.deadlines):
                job.told[place] = answer.deadlines
                return answer
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(job.waiting.setdefault(place, asyncio.Event()).wait(), left)

    def heard(self, uid: str) -> tuple[Heard, ...]:
        """The newest report of every launcher of the job, with its age."""
        job, now = self._jobs.get(uid), self._clock()
        if job is None:
            return ()
        entries = job.heard.items()
        return tuple([Heard(report=report, age=now - at, sums=job.sums[place]) for place, (report, at) in entries])

    def publish(self, uid: str, orders: Orders) -> None:
        """Answer the job's launchers so from now on; those that wait are answered at once when it concerns them."""
        job = self._jobs.get(uid)
        if orders.interval_seconds > self._longest_interval:
            orders = msgspec.structs.replace(orders, interval_seconds=self._longest_interval)
        if job is None:
            self._jobs[uid] = _Job(orders, self._clock())
            return
        if job.orders == orders:
            return
        job.orders = orders
        self._drop_old(job)
        job.wake_all()

    def forget_placement(self, uid: str, placement: int) -> None:
        """A placement of this name is about to be created: who was heard before belongs to one that is gone."""
        job = self._jobs.get(uid)
        if job is not None:
            job.heard = {place: entry for place, entry in job.heard.items() if place[0] != placement}

    def note_over(self, uid: str, placement: int, worker: int) -> None:
        """The worker has ended where it ran, whatever its launcher said last: nothing of it lives."""
        job = self._jobs.get(uid)
        report, at = job.heard.get((placement, worker), (None, 0.0)) if job else (None, 0.0)
        if job is not None and report is not None and report.stage in (STAGE_RUNNING, STAGE_STOPPING):
            job.heard[placement, worker] = (dataclasses.replace(report, stage=STAGE_STOPPED), at)

    def forget(self, uid: str) -> None:
        """The job is gone."""
        job = self._jobs.pop(uid, None)
        if job is not None:
            job.wake_all()

    def _drop_old(self, job: _Job) -> None:
        now, current = self._clock(), job.orders.placement
        job.heard = {
            place: entry for place, entry in job.heard.items()
            if place[0] == current or now - entry[1] < FORGET_SECONDS
        }


def differ(told: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Whether a launcher that was told these deadlines would watch for the wrong ones."""
    if set(told) != set(now):
        return True
    return any(abs(now[phase] - told[phase]) > DEADLINE_SHARE * told[phase] for phase in now)
