"""The real engine over a pretended Slurm that fails at random: whatever happens, nothing is submitted beside a job that
may live, and once the trouble is over the job has exactly one.
"""

import random
from collections.abc import Sequence

import msgspec
import pytest

from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.runtime import SlurmRuntime
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.slurm.comments import read_comment
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.core.slurm.state_table import Kind
from hedgerow_operator.core.slurm.states import means
from hedgerow_operator.reconcile.engine import Reconciler
from hedgerow_operator.reconcile.reports import ReportHub
from tests.unit.core.builders import UID, make_job
from tests.unit.reconcile.fakes import KEY, Calls, FakeJobs, FakeLeadership, FakeMetrics
from tests.unit.slurm.pretended_cluster import LOST, NODES, Papers, PretendedSlurm

ENDS = ("FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "COMPLETED")


class StrictSlurm(PretendedSlurm):
    """Ends the test where something is submitted beside a job that may live. heard: jobs that have ended, and all of
    whose nodes have answered since.
    """

    def __init__(self) -> None:
        super().__init__()
        self.heard: set[str] = set()

    async def submit(self, submission: Submission) -> str:
        alive = [job.id for job in self.listed if means(job, self.wall()).kind is not Kind.ENDED]
        assert alive == [], f"{submission.comment} beside {alive}"
        unseen = [job.id for job in self.listed if job.state == "NODE_FAIL" and job.id not in self.heard]
        assert unseen == [], f"{submission.comment} beside ranks of {unseen} on {self.silent}"
        return await super().submit(submission)

    async def requeue(self, job_id: str, excluded: Sequence[str]) -> None:
        self.change_job(job_id, state="PENDING", flags=frozenset({"COMPLETING"}))
        self.call(f"requeue {job_id}")


class StrictPapers(Papers):
    """Ends the test where a run is told its attempt while one before it, or one that was told another, may live."""

    def __init__(self, slurm: PretendedSlurm, by_comment: bool) -> None:
        super().__init__()
        self._slurm, self.by_comment = slurm, by_comment

    async def add_run(self, job: TrainingJob, first: int, number: int, attempt: int) -> None:
        told = len(self.runs(job, first))
        for shown in self._slurm.listed:
            runs = means(shown, self._slurm.wall()).kind in (Kind.STARTING, Kind.ALIVE)
            live = runs and read_comment(shown.comment) == (UID, first)
            assert not (live and shown.restarts < max(number, told)), f"attempt {attempt} beside {shown}"
        await super().add_run(job, first, number, attempt)


class Site:
    """One job, its engine, and the dice."""

    def __init__(self, seed: int, resubmit: str, by_comment: bool, backoff: int) -> None:
        self.dice = random.Random(seed)
        self.slurm = StrictSlurm()
        self.papers = StrictPapers(self.slurm, by_comment)
        slurm = {"script": "train", "resubmit": resubmit}
        job = make_job({"workers": 2, "ranksPerWorker": 1, "local": None, "slurm": slurm, "checkpoint": None,
                        "recovery": {"maxRestarts": 1000, "noProgressLimit": 1000,
                                     "backoff": {"initialSeconds": backoff, "maxSeconds": backoff}}})  # fmt: skip
        self.jobs = FakeJobs(job, Calls())
        self.restart()

    def restart(self) -> None:
        """A new process, that remembers nothing."""
        view = ClusterView(self.slurm, lambda: self.slurm.now)
        runtime = SlurmRuntime(view, self.papers, self.slurm.wall, stopwatch=lambda: self.slurm.now)
        self.engine = Reconciler(
            self.jobs, lambda job: runtime, ReportHub(clock=lambda: self.slurm.now), FakeLeadership(), self.slurm.wall,
            FakeMetrics(), stopwatch=lambda: self.slurm.now)  # fmt: skip

    @property
    def job(self) -> TrainingJob:
        assert self.jobs.job is not None
        return self.jobs.job

    def alive(self) -> list[str]:
        return [job.id for job in self.slurm.listed if means(job, self.slurm.wall()).kind is not Kind.ENDED]

    async def passes(self, seconds: float) -> None:
        """As often as the engine wants, for so long."""
        end = self.slurm.now + seconds
        while self.slurm.now < end:
            self.go_on()
            wait = await self.engine.reconcile(KEY)
            self.slurm.now += max(0.2, min(5.0 if wait is None else wait, end - self.slurm.now))

    def go_on(self) -> None:
        """What Slurm does by itself."""
        for job in list(self.slurm.listed):
            if "COMPLETING" in job.flags and self.dice.random() < 0.5:
                again = {"nodes": (), "restarts": job.restarts + 1} if job.state == "PENDING" else {}
                self.slurm.change_job(job.id, flags=frozenset(), **again)
            elif job.state == "PENDING" and not job.flags and self.dice.random() < 0.3:
                self.slurm.starts(job.id, *self.dice.sample(NODES, 2))
            elif job.id not in self.alive() and not set(job.nodes) & self.slurm.silent:
                self.slurm.heard.add(job.id)

    def happen(self) -> None:
        """One thing goes wrong, or well again."""
        self.dice.choice([
            self.end, self.fall_silent, self.answer, self.be_away, self.be_there, self.lose_answers, self.restart,
            self.suspend, self.forget, self.requeue, self.lose_comments,
        ])()  # fmt: skip

    def end(self) -> None:
        for number in self.alive():
            self.slurm.change_job(number, state=self.dice.choice(ENDS), exit_status=256, ended_at=self.slurm.wall() + 9)

    def fall_silent(self) -> None:
        self.slurm.silent = {self.dice.choice(NODES)}

    def answer(self) -> None:
        self.slurm.silent = set()

    def be_away(self) -> None:
        self.slurm.failures["jobs"] = LOST

    def be_there(self) -> None:
        self.slurm.failures.clear()

    def lose_answers(self) -> None:
        self.slurm.failures[self.dice.choice(["submit", "cancel", "requeue", "avoid", "comment"])] = LOST

    def suspend(self, suspend: bool | None = None) -> None:
        """Or the opposite."""
        wanted = not self.job.spec.suspend if suspend is None else suspend
        spec = msgspec.structs.replace(self.job.spec, suspend=wanted)
        self.jobs.job = msgspec.structs.replace(self.job, spec=spec)

    def requeue(self) -> None:
        """By an administrator, where it may be."""
        for job in self.slurm.listed:
            if self.papers.written and job.state == "RUNNING":
                self.slurm.change_job(job.id, state="PENDING", flags=frozenset({"COMPLETING"}))

    def lose_comments(self) -> None:
        """A controller that died right after it was told."""
        for job in self.slurm.listed:
            self.slurm.change_job(job.id, comment=":".join(job.comment.split(":")[:3]))

    def forget(self) -> None:
        """Slurm, what ended long ago."""
        for number in self.slurm.heard - set(self.alive()):
            self.slurm.forgets(number)


# resubmit, whether runs are told by comments, seconds of backoff.
WAYS: dict[str, tuple[str, bool, int]] = {
    "NewJob": ("NewJob", False, 0),
    "Requeue": ("Requeue", False, 0),
    "Requeue, told by comments, after a while": ("Requeue", True, 10),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(25))
async def test_whatever_happens_no_job_is_submitted_beside_one_that_may_live_and_in_the_end_there_is_one(
    seed: int, way: str
) -> None:
    site = Site(seed, *WAYS[way])
    for _ in range(25):
        site.happen()
        await site.passes(site.dice.choice([0.5, 3.0, 20.0]))
    site.be_there()
    site.answer()
    site.suspend(False)
    await site.passes(300.0)
    assert len(site.alive()) == 1, site.job.status
    assert site.job.status.attempt_stage == "Gathering"
    (job,) = (job for job in site.slurm.listed if job.id in site.alive())
    first = read_comment(job.comment)
    assert first is not None
    runs = site.papers.runs(site.job, first[1]) or (first[1],)
    assert runs[job.restarts :] == (site.job.status.placement,)
    assert not site.papers.by_comment or not job.restarts or job.comment.endswith(f":{job.restarts}={runs[-1]}")
