"""What launchers said last, and the answers they wait for. In memory only: after a restart they say it again."""

import asyncio
import dataclasses
import math
from collections.abc import Callable, Mapping

import msgspec

from hedgerow.wire import STAGE_RUNNING, STAGE_STOPPED, STAGE_STOPPING, Answer, Report
from hedgerow_operator.core.noteworthy import Outline, look_within, outline
from hedgerow_operator.core.orders import answer_for
from hedgerow_operator.core.plan import Orders
from hedgerow_operator.core.rank_reports import changed
from hedgerow_operator.core.rank_sums import RankSums, sums_of
from hedgerow_operator.core.seen import Heard
from hedgerow_operator.reconcile.held import Held, Waiting, future_of
from hedgerow_operator.reconcile.pressure import Pressure

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
        self.outlines: dict[tuple[int, int], Outline] = {}
        self.told: dict[tuple[int, int], Mapping[str, float]] = {}
        self.held: dict[tuple[int, int], Held] = {}

    def keep(self, wanted: Callable[[tuple[int, int], float], bool]) -> None:
        """Forget the launchers that are not ``wanted``: by place, and when they were heard."""
        self.heard = {place: entry for place, entry in self.heard.items() if wanted(place, entry[1])}
        self.sums = {place: sums for place, sums in self.sums.items() if place in self.heard}
        self.outlines = {place: found for place, found in self.outlines.items() if place in self.heard}
        self.told = {place: told for place, told in self.told.items() if place in self.heard}

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

    def __init__(
        self, clock: Callable[[], float], longest_interval: float = math.inf, pressure: Pressure | None = None
    ) -> None:
        self._clock = clock
        self._longest_interval = longest_interval
        self._pressure = pressure or Pressure()
        self._waiting = Waiting(clock, self._due)
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
        self._answer_if_due(job, place)
        before, job.outlines[place] = job.outlines.get(place), outline(report, job.orders)
        seconds = 0.0 if self.on_heard(report) else look_within(before, job.outlines[place], job.orders)
        if seconds is not None:
            self.on_report(report.job.uid, seconds)

    def hold(self, report: Report, reply: Callable[[Answer], None]) -> Held:
        """Have ``reply`` called once: at once, or when there is a command, the deadlines have changed, or the next
        report is due or there. Whoever does not wait any more closes what this returns.

        A launcher with urgent news drops the oldest of its open requests; one that is answered as soon as the next has
        come is never dropped, so that the launcher hears that its attempt is current however much it has to tell.
        """
        job = self._jobs.get(report.job.uid)
        if job is None:
            held = Held(report, reply, self._clock())
            self._reply(held, Answer(current=False))
            return held
        now = self._clock()
        held = Held(report, reply, now + self._pressure.turn(job.orders.interval_seconds, now))
        before = job.held.pop(held.place, None)
        if before is not None:
            self._answer(job, before)
        job.held[held.place] = held
        if not self._answer_if_due(job, held.place):
            self._waiting.add(held)
        return held

    async def answer(self, report: Report) -> Answer:
        """What ``hold`` replies."""
        answered, settle = future_of(asyncio.get_running_loop())
        held = self.hold(report, settle)
        try:
            answer: Answer = await answered
        finally:
            held.close()
        return answer

    def _answer_if_due(self, job: _Job, place: tuple[int, int]) -> bool:
        """Answer the launcher there if there is something to say; whether nobody waits there any more."""
        held = job.held.get(place)
        if held is None or held.report is None:
            return True
        answer = answer_for(job.orders, held.report)
        due = held.due <= self._clock() or job.overtaken(held.report)
        if not (answer.commands or due or differ(job.told.get(place, {}), answer.deadlines)):
            return False
        del job.held[place]
        self._reply(held, self._told(job, place, answer))
        return True

    def _answer(self, job: _Job, held: Held) -> None:
        if held.report is not None:
            self._reply(held, self._told(job, held.place, answer_for(job.orders, held.report)))

    def _told(self, job: _Job, place: tuple[int, int], answer: Answer) -> Answer:
        job.told[place] = answer.deadlines
        interval = self._pressure.interval(answer.interval_seconds)
        return answer if interval == answer.interval_seconds else dataclasses.replace(answer, interval_seconds=interval)

    def _due(self, held: Held) -> None:
        job = self._jobs.get(held.report.job.uid) if held.report else None
        if job is None:
            self._reply(held, Answer(current=False))
            return
        if job.held.get(held.place) is held:
            del job.held[held.place]
        self._answer(job, held)

    @staticmethod
    def _reply(held: Held, answer: Answer) -> None:
        if held.open:
            held.close()
            held.reply(answer)

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
        for place in list(job.held):
            self._answer_if_due(job, place)

    def forget_placement(self, uid: str, placement: int) -> None:
        """A placement of this name is about to be created: who was heard before belongs to one that is gone."""
        job = self._jobs.get(uid)
        if job is not None:
            job.keep(lambda place, _: place[0] != placement)

    def note_over(self, uid: str, placement: int, worker: int) -> None:
        """The worker has ended where it ran, whatever its launcher said last: nothing of it lives."""
        job = self._jobs.get(uid)
        report, at = job.heard.get((placement, worker), (None, 0.0)) if job else (None, 0.0)
        if job is not None and report is not None and report.stage in (STAGE_RUNNING, STAGE_STOPPING):
            job.heard[placement, worker] = (changed(report, stage=STAGE_STOPPED), at)

    def forget(self, uid: str) -> None:
        """The job is gone."""
        job = self._jobs.pop(uid, None)
        for held in job.held.values() if job is not None else ():
            # Gone while its launcher waited: nothing is confirmed, nothing ordered.
            self._reply(held, Answer(current=False))

    def _drop_old(self, job: _Job) -> None:
        now, current = self._clock(), job.orders.placement
        job.keep(lambda place, at: place[0] == current or now - at < FORGET_SECONDS)


def differ(told: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Whether a launcher that was told these deadlines would watch for the wrong ones."""
    if told == now:
        return False
    if set(told) != set(now):
        return True
    return any(abs(now[phase] - told[phase]) > DEADLINE_SHARE * told[phase] for phase in now)
