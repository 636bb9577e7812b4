"""Placements as jobs of Slurm: each is one batch job, known by its comment, and each of its nodes is a worker."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from hedgerow_operator.adapters.slurm.cluster_view import BUSY_SECONDS, NODES_SECONDS, ClusterView, Listing, NodeListing
from hedgerow_operator.adapters.slurm.memory import Known, as_it_ran, stored
from hedgerow_operator.adapters.slurm.observe import Run, is_gone, placement_seen
from hedgerow_operator.adapters.slurm.requeue import Requeues, goes_on
from hedgerow_operator.adapters.slurm.submissions import Submissions
from hedgerow_operator.api import reasons
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.submission import lead_seconds
from hedgerow_operator.core.seen import PlacementSeen
from hedgerow_operator.core.slurm.node_facts import SILENT, NodeFacts
from hedgerow_operator.core.slurm.refusals import Refusal, kind_of
from hedgerow_operator.core.slurm.room import too_few
from hedgerow_operator.core.slurm.runs import Entry, entry_of
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_table import Kind
from hedgerow_operator.core.slurm.states import Meaning, is_same, means, vanished
from hedgerow_operator.core.step import ENDED, GATHERING, REMOVING, RUNNING, STARTING, STOPPING
from hedgerow_operator.reconcile.ports import JobKey, Refused, TooTight, Unreachable

# A job that does not end after it was asked is asked again: a controller that died may have forgotten.
ASK_AGAIN_SECONDS = 10.0
# What was sent to a controller that did not answer is in its listings so long after it answers again.
SETTLE_SECONDS = 3.0
# A node that comes back ends what it still ran, within seconds.
BACK_SECONDS = 10.0
# A job that we have ended is believed to be gone once it was not shown for so long.
UNSEEN_SECONDS = 10.0
# Launchers of a job that waits to be run again: a listing may be as old as the period.
PUT_BACK_SECONDS = 10.0
_KILL_SECONDS = 30.0
# Stages in which the current placement must have been there.
_PLACED = (GATHERING, STARTING, RUNNING, STOPPING, REMOVING)
_NOT_PLACED = (Kind.WAITING, Kind.HELD)


class SlurmRuntime:
    """See reconcile.ports.Runtime. on_change: a job of this name may look different. clock: wall time."""

    fences_by_time = True

    def __init__(
        self,
        view: ClusterView,
        submissions: Submissions,
        clock: Callable[[], float],
        on_change: Callable[[JobKey], None] = lambda key: None,
        stopwatch: Callable[[], float] = monotonic,
    ) -> None:
        self._view = view
        self._submissions = submissions
        self._requeues = Requeues(view, submissions, clock)
        self._clock = clock
        self._stopwatch = stopwatch
        self._on_change = on_change
        self._known: dict[tuple[str, int], Known] = {}
        self._keys: dict[str, JobKey] = {}
        self._uncertain: dict[tuple[str, int], float | None] = {}
        self._killed: set[str] = set()
        view.on_change = self._changed

    async def placements(self, job: TrainingJob) -> tuple[PlacementSeen, ...]:
        uid = job.metadata.uid
        self._keys[uid] = JobKey(job.metadata.namespace, job.metadata.name)
        listing = await self._view.jobs()
        await self._learn(job, listing)
        seen = [await self._look(job, attempt, listing) for attempt in self._attempts(uid)]
        self._view.follow(uid, busy=any(known.awaited for known in self._of_job(uid)))
        return tuple([placement for placement in seen if placement is not None])

    async def create(self, job: TrainingJob, attempt: int, excluded_nodes: tuple[str, ...]) -> None:
        """See Runtime. Slurm is asked first whether it has taken it already."""
        key = (job.metadata.uid, attempt)
        if job.metadata.uid in self._killed:
            raise Unreachable("nothing is submitted: the job is being ended")
        listing = await self._view.fresh_jobs()
        again = [entry for entry in self._entries(job, listing) if entry.again]
        removed = self._removed(key)
        begun = await self._requeues.begin_run(job, attempt, excluded_nodes, again, removed)
        if begun or self._listed_anew(job, attempt, listing, removed):
            self._uncertain.pop(key, None)
            if begun and removed is not None:
                del self._known[key]
            return
        if key in self._uncertain:
            # A controller that was frozen carries out what had been sent to it once it goes on.
            answers_since = self._uncertain[key] = self._uncertain[key] or self._stopwatch()
            if self._stopwatch() - answers_since < SETTLE_SECONDS:
                raise Unreachable("whether Slurm has taken the job is not known yet; looking again")
        excluded_nodes = await self._view.known_nodes(excluded_nodes)
        submission = await self._submissions.prepare(job, attempt, excluded_nodes)
        try:
            number = await self._view.driver.submit(submission)
        except Unreachable:
            self._uncertain[key] = None
            raise
        except Refused as error:
            raise _refusal(error, excluded_nodes) from error
        finally:
            self._view.changed()
        self._uncertain.pop(key, None)
        self._known[key] = Known(
            SlurmJob(
                id=number,
                state="PENDING",
                comment=submission.comment,
                name=submission.name,
                submitted_at=self._clock(),
            )
        )

    async def remove(self, job: TrainingJob, attempt: int, force: tuple[str, ...]) -> None:
        """See Runtime. What is asked to end is told from a listing of this moment: numbers are given again."""
        listed = self._of(job, attempt, await self._view.fresh_jobs())
        # One that is ending already was ended by somebody else, or has been asked.
        alive = [entry for entry in listed if means(entry.job, self._clock()).kind not in (Kind.ENDING, Kind.ENDED)]
        for entry in alive:
            await self._end(job, entry)
        known = self._known.get((job.metadata.uid, attempt))
        if known is not None:
            known.asked_at = self._stopwatch()
            known.forced |= frozenset(force)
        if alive:
            self._view.changed()

    async def _end(self, job: TrainingJob, entry: Entry) -> None:
        if entry.again and goes_on(job):
            await self._requeues.end_run(job, entry)
        else:
            await self._submissions.note_cancelled(job, entry.attempt, entry.job.id)
            await self._view.driver.cancel(entry.job.id)

    async def kill(self, job: TrainingJob) -> list[str]:
        """End every placement of the job at once, and start none any more; those that would not go."""
        self._killed.add(job.metadata.uid)
        deadline = self._stopwatch() + _KILL_SECONDS
        while True:
            listing = await self._view.jobs(oldest=BUSY_SECONDS)
            left = [(attempt, entry) for attempt, entry in listing.jobs.get(job.metadata.uid, ()) if not _over(entry)]
            for attempt, entry in left:
                await self._submissions.note_cancelled(job, attempt, entry.id)
                await self._view.driver.cancel(entry.id)
            if not left or self._stopwatch() >= deadline:
                return [entry.id for _, entry in left]
            await asyncio.sleep(BUSY_SECONDS)

    def forget(self, uid: str) -> None:
        """The TrainingJob is gone."""
        self._view.forget(uid)
        self._keys.pop(uid, None)
        self._known = {key: known for key, known in self._known.items() if key[0] != uid}

    # What is known of each placement.

    def _entries(self, job: TrainingJob, listing: Listing) -> list[Entry]:
        every = listing.jobs.get(job.metadata.uid, ())
        found = [(first, listed) for first, listed in every if not _was_refused(listed)]
        return [entry_of(first, listed, self._submissions.runs(job, first)) for first, listed in found]

    def _removed(self, key: tuple[str, int]) -> str | None:
        """The number of the batch job that was this placement, and that has been removed. An attempt that never began
        keeps its number in the next placement.
        """
        known = self._known.get(key)
        return known.job.id if known is not None and known.over_told else None

    def _listed_anew(self, job: TrainingJob, attempt: int, listing: Listing, removed: str | None) -> bool:
        """Whether the placement is there, and is not the one that was removed and that Slurm still shows."""
        listed = self._of(job, attempt, listing)
        return bool(listed) and _shown(listed).job.id != removed

    def _of(self, job: TrainingJob, attempt: int, listing: Listing) -> list[Entry]:
        return [entry for entry in self._entries(job, listing) if entry.attempt == attempt]

    def _changed(self, uid: str) -> None:
        if uid in self._keys:
            self._on_change(self._keys[uid])

    def _attempts(self, uid: str) -> list[int]:
        return sorted(attempt for known, attempt in self._known if known == uid)

    def _of_job(self, uid: str) -> list[Known]:
        return [known for key, known in self._known.items() if key[0] == uid]

    async def _learn(self, job: TrainingJob, listing: Listing) -> None:
        uid = job.metadata.uid
        await self._requeues.look_after(job, self._entries(job, listing))
        attempts = {entry.attempt for entry in self._entries(job, listing)}
        before = stored(job)
        for attempt in attempts:
            listed = self._of(job, attempt, listing)
            shown = _shown(listed)
            for late in listed:
                # A submission whose answer was lost, and that came late. Nothing was started in it.
                if late is not shown and not _over(late.job):
                    await self._view.driver.cancel(late.job.id)
            known = self._known.get((uid, attempt))
            if known is None or known.job.id != shown.job.id:
                known = self._known[uid, attempt] = Known(
                    as_it_ran(shown, before if attempt == job.status.placement else None)
                )
            known.see(shown)
        for key in [key for key, known in self._known.items() if key[0] == uid and known.gone]:
            # It is remembered of the current one, which the status may still name, and of what is still listed.
            if key[1] != job.status.placement and key[1] not in attempts:
                del self._known[key]
        if before is not None and job.status.attempt_stage in _PLACED:
            self._known.setdefault((uid, job.status.placement), Known(before))

    async def _look(self, job: TrainingJob, attempt: int, listing: Listing) -> PlacementSeen | None:
        """How the placement stands; None: nothing is left of it."""
        known = self._known[job.metadata.uid, attempt]
        meaning = await self._meaning(job, attempt, known, listing)
        known.gone = meaning is None
        if meaning is None:
            return None
        known.alive |= meaning.kind is Kind.ALIVE
        known.was_paused |= meaning.paused
        if known.asked_at is not None and known.again and meaning.kind in _NOT_PLACED and goes_on(job):
            known.over_told = known.gone = True  # its run has not begun, and begins as whatever is placed next
            return None
        await self._ask_again(job, attempt, known, meaning)
        run = Run(
            attempt=attempt,
            job=known.job,
            meaning=meaning,
            asked=known.asked_at is not None,
            ours=self._submissions.was_cancelled(job, attempt, known.job.id),
            forced=known.forced,
            too_few=await self._too_few(known.job, meaning, job.spec.workers),
            put_back=self._put_back(job, attempt, known, meaning),
            was_paused=known.was_paused,
        )
        ends = run.asked or meaning.kind is Kind.ENDING or job.status.attempt_stage == ENDED
        known.awaited = (ends and meaning.kind is not Kind.ENDED) or meaning.kind is Kind.UNKNOWN
        return self._shown(job, run, known, await self._facts(run, known))

    def _shown(self, job: TrainingJob, run: Run, known: Known, facts: Mapping[str, NodeFacts]) -> PlacementSeen | None:
        """None once its end was shown, and it was asked for, and nothing of it can be alive."""
        if run.asked and is_gone(run, facts, job.spec.workers):
            if known.over_told:
                return None
            known.over_told = True
            asyncio.get_running_loop().call_soon(self._changed, job.metadata.uid)
        return placement_seen(run, facts, job.spec.workers, self._clock())

    async def _meaning(self, job: TrainingJob, attempt: int, known: Known, listing: Listing) -> Meaning | None:
        """What its state means; None: it is gone."""
        now, lead = self._clock(), float(lead_seconds(job))
        if self._of(job, attempt, listing):
            return _put_back_meaning(known, now) if known.put_back else means(known.job, now, lead)
        if known.gone or known.over_told or (_over(known.job) and job.status.attempt_stage not in _PLACED):
            return None
        missing = known.miss(self._stopwatch())
        told = await self._view.driver.job(known.job.id)
        if told is not None and is_same(known.job, told):
            known.job = told
            return means(told, now, lead)
        if means(known.job, now).kind in _NOT_PLACED and missing >= UNSEEN_SECONDS:
            return None  # a controller that died has lost what was submitted just before
        if known.asked_at is not None and missing >= UNSEEN_SECONDS:
            missing = float("inf")
        return vanished(known.job, missing, now)

    async def _ask_again(self, job: TrainingJob, attempt: int, known: Known, meaning: Meaning) -> None:
        """A controller that died right after it was asked has forgotten that it was."""
        if known.asked_at is None or meaning.kind in (Kind.ENDED, Kind.ENDING, Kind.UNKNOWN):
            return
        if self._stopwatch() - known.asked_at >= ASK_AGAIN_SECONDS:
            await self._end(job, Entry(attempt=attempt, first=attempt, job=known.job, again=known.again))
            known.asked_at = self._stopwatch()
            self._view.changed()

    def _put_back(self, job: TrainingJob, attempt: int, known: Known, meaning: Meaning) -> bool:
        """Whether Slurm has it wait again while its launchers were told to train: they may live on."""
        begun = attempt == job.status.placement and job.status.attempt_stage in (STARTING, RUNNING, STOPPING, REMOVING)
        if meaning.kind not in _NOT_PLACED or not (begun or known.alive):
            known.waits_since = None
            return False
        if known.waits_since is None:
            known.waits_since = self._stopwatch()
        return known.alive or self._stopwatch() - known.waits_since >= PUT_BACK_SECONDS

    async def _too_few(self, job: SlurmJob, meaning: Meaning, workers: int) -> bool:
        if meaning.kind is not Kind.WAITING or not job.excluded:
            return False
        nodes = await self._view.nodes()
        return too_few(nodes.nodes.values(), job, workers)

    async def _facts(self, run: Run, known: Known) -> Mapping[str, NodeFacts]:
        """Of its nodes, once it has any."""
        if not run.job.nodes or run.meaning.kind in _NOT_PLACED:
            return {}
        nodes = await self._view.nodes(NODES_SECONDS if run.meaning.kind is Kind.ALIVE else BUSY_SECONDS)
        lost = run.meaning.cause == reasons.NODE_LOST
        return {node: self._fact(node, nodes, known, lost) for node in run.job.nodes}

    def _fact(self, node: str, nodes: NodeListing, known: Known, lost: bool) -> NodeFacts:
        """A node that was silent under the job counts as answering once it has answered for a while."""
        fact = nodes.of(node)
        if fact.silent:
            known.silent.add(node)
            return fact
        if (lost or node in known.silent) and self._stopwatch() - nodes.answering[node] < BACK_SECONDS:
            return SILENT
        known.silent.discard(node)
        return fact


def _put_back_meaning(known: Known, now: float) -> Meaning:
    """Of a run that is over while the job waits for the next."""
    ending = means(known.latest, now)
    if ending.kind is Kind.ENDING:
        return ending
    message = f"Slurm job {known.job.id} was put back and is to run again"
    return Meaning(kind=Kind.ENDED, cause=reasons.REQUEUED, message=message)


def _over(job: SlurmJob) -> bool:
    return means(job, 0.0).kind is Kind.ENDED


def _shown(listed: Sequence[Entry]) -> Entry:
    """The one that is the placement: of live ones the first; an attempt that never began keeps its number, so of those
    that have ended the last.
    """
    live = [entry for entry in listed if not _over(entry.job)]
    return min(live, key=_age) if live else max(listed, key=_age)


def _age(entry: Entry) -> tuple[float, int, str]:
    return entry.job.submitted_at or 0.0, len(entry.job.id), entry.job.id


def _was_refused(job: SlurmJob) -> bool:
    """Slurm keeps a record also of what sbatch was refused: it has failed in the moment in which it was submitted."""
    at_once = job.submitted_at is not None and job.ended_at is not None and job.ended_at - job.submitted_at <= 1.0
    return job.state == "FAILED" and not job.nodes and at_once


def _refusal(error: Refused, excluded: Sequence[str]) -> Exception:
    kind = kind_of(str(error), bool(excluded))
    if kind is Refusal.TOO_TIGHT:
        return TooTight(str(error))
    return Unreachable(str(error)) if kind is Refusal.PASSES else error
