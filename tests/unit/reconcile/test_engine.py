"""One pass of the engine: in which order it calls, and what it does when a call fails."""

import dataclasses
import itertools

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.status import Degradation, TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.core.step import ENDED, PLACING, RUNNING
from hedgerow_operator.reconcile.engine import CONFLICT_SECONDS, FIGURES_SECONDS, RETRY_SECONDS, Reconciler, connect
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Refused, TooTight, Unreachable
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.reports import ReportHub
from tests.unit.core.builders import UID, make_job, make_rank, make_report
from tests.unit.reconcile.fakes import KEY, Calls, FakeJobs, FakeLeadership, FakeMetrics, FakeRuntime

NOW = 1_800_000_000.0
PLACING_STATUS = TrainingJobStatus(attempt=1, placement=1, attempt_stage=PLACING)
RUNNING_STATUS = TrainingJobStatus(attempt=1, placement=1, attempt_stage=RUNNING, step=36)


class Bench:
    """An engine over pretended ports."""

    def __init__(self, status: TrainingJobStatus | None = None, looks: int = 1_000_000) -> None:
        self.calls = Calls()
        self.now = 100.0
        self.jobs = FakeJobs(make_job(status=status), self.calls)
        self.runtime = FakeRuntime(self.calls)
        self.leadership, self.metrics = FakeLeadership(looks), FakeMetrics()
        self.hub = ReportHub(clock=lambda: self.now)
        self.engine = Reconciler(
            self.jobs, lambda job: self.runtime, self.hub, self.leadership, lambda: NOW + self.now, self.metrics,
            stopwatch=lambda: self.now,
        )

    @property
    def status(self) -> TrainingJobStatus:
        assert self.jobs.job is not None
        return self.jobs.job.status

    async def again(self) -> float | None:
        """One pass, with the calls before it forgotten."""
        self.calls.made.clear()
        return await self.engine.reconcile(KEY)

    def report(self, step: int, seq: int) -> None:
        """All four ranks have reached this step."""
        ranks = [make_rank(rank, step=step) for rank in range(4)]
        self.hub.receive(make_report(*ranks, seq=seq))


async def test_a_new_job_moves_on_pass_by_pass_and_one_write_comes_before_its_events() -> None:
    bench = Bench()
    assert await bench.again() == 0.0
    assert bench.calls.made == ["get", "placements", "write_status"]
    await bench.again()
    assert bench.calls.made[:3] == ["get", "placements", "create"]
    await bench.again()
    assert bench.calls.made == ["get", "placements", "write_status", "record"]
    assert [event.reason for event in bench.jobs.events] == [reasons.PLACEMENT_CREATED]


async def test_a_conflict_is_tried_again_at_once_and_no_event_is_sent() -> None:
    bench = Bench(PLACING_STATUS)
    bench.runtime.attempts.add(1)
    bench.calls.failures["write_status"] = Conflict("changed")
    assert await bench.again() == CONFLICT_SECONDS
    assert ("record" in bench.calls.made, bench.metrics.results) == (False, ["conflict"])


@pytest.mark.parametrize("call", ["get", "create", "write_status"])
async def test_what_cannot_be_reached_is_tried_again_later(call: str) -> None:
    bench = Bench(PLACING_STATUS)
    bench.calls.failures[call] = Unreachable("no answer")
    told: list[tuple[JobKey, str]] = []
    bench.engine.on_unreachable = lambda key, why: told.append((key, why))
    assert await bench.again() == RETRY_SECONDS
    assert told == [(KEY, "no answer")]
    assert (bench.status.attempt_stage, bench.metrics.results) == (PLACING, ["unreachable"])


async def test_while_placements_cannot_be_seen_nothing_is_done_and_the_status_says_so() -> None:
    bench = Bench(PLACING_STATUS)
    bench.calls.failures["placements"] = Unreachable("no answer")
    await bench.again()
    assert bench.calls.made == ["get", "placements", "write_status"]
    running = next(entry for entry in bench.status.conditions if entry.type == "Running")
    assert (running.status, running.reason) == ("Unknown", reasons.NOT_MEASURED)


@pytest.mark.parametrize("call", ["create", "placements"])
async def test_a_placement_that_is_refused_for_good_fails_the_job_with_the_reason(call: str) -> None:
    bench = Bench(PLACING_STATUS)
    bench.calls.failures[call] = Refused("the quota allows no GPU")
    await bench.again()
    failed = next(entry for entry in bench.status.conditions if entry.type == "Failed")
    assert (bench.status.attempt_stage, failed.status, failed.message) == (ENDED, "True", "the quota allows no GPU")


async def test_a_placement_that_is_too_tight_is_tried_again_and_the_job_says_why() -> None:
    bench = Bench(PLACING_STATUS)
    bench.calls.failures["create"] = TooTight("no node is left")
    wait = await bench.again()
    running = next(entry for entry in bench.status.conditions if entry.type == "Running")
    assert (bench.status.attempt_stage, running.reason) == (PLACING, reasons.EXCLUSION_TOO_TIGHT)
    assert wait is not None


@pytest.mark.parametrize(("left", "wait"), [(True, None), (False, RETRY_SECONDS)])
async def test_a_job_that_is_deleted_is_looked_at_until_nothing_of_it_is_left(left: bool, wait: float | None) -> None:
    class Farewell:
        async def leave(self, job: TrainingJob) -> bool:
            bench.calls.make("leave")
            return left

    bench = Bench(RUNNING_STATUS)
    assert bench.jobs.job is not None
    deleted = msgspec.structs.replace(bench.jobs.job.metadata, deletion_timestamp="2027-01-01T00:00:00Z")
    bench.jobs.job = msgspec.structs.replace(bench.jobs.job, metadata=deleted)
    bench.engine._farewell = Farewell()
    assert await bench.again() == wait
    assert bench.calls.made == ["get", "leave"]


async def test_why_the_place_cannot_be_asked_is_told() -> None:
    bench = Bench(RUNNING_STATUS)
    bench.calls.failures["placements"] = Unreachable("slurmrestd does not answer")
    await bench.again()
    running = next(entry for entry in bench.status.conditions if entry.type == "Running")
    assert running.message.endswith("slurmrestd does not answer")


async def test_an_operator_that_does_not_lead_calls_nothing() -> None:
    bench = Bench(PLACING_STATUS, looks=0)
    assert await bench.again() == RETRY_SECONDS
    assert bench.calls.made == []


@pytest.mark.parametrize(("looks", "made"), [(1, ["get", "placements"]), (2, ["get", "placements", "create"])])
async def test_the_loss_of_the_lease_in_the_middle_of_a_pass_ends_its_calls(looks: int, made: list[str]) -> None:
    bench = Bench(PLACING_STATUS, looks=looks)
    await bench.again()
    assert bench.calls.made == made


async def test_figures_alone_are_written_every_ten_seconds_at_most() -> None:
    bench = Bench(RUNNING_STATUS)
    bench.runtime.attempts.add(1)
    writes = []
    await bench.again()
    for second in range(40):
        bench.now += 1.0
        bench.report(step=40 + second, seq=10 + second)
        await bench.again()
        writes += [bench.now] * bench.calls.made.count("write_status")
    assert len(writes) in (4, 5)
    assert all(later - earlier >= FIGURES_SECONDS for earlier, later in itertools.pairwise(writes))


async def test_nothing_new_means_no_write() -> None:
    bench = Bench(RUNNING_STATUS)
    bench.runtime.attempts.add(1)
    bench.report(step=37, seq=1)
    for _ in range(3):
        await bench.again()
    bench.now += 60.0
    bench.report(step=37, seq=2)
    await bench.again()
    assert set(bench.calls.made) <= {"get", "placements", "write_status"}
    await bench.again()
    assert bench.calls.made == ["get", "placements"]


@pytest.mark.parametrize("change", ["gone", "being deleted", "another of the same name"])
async def test_launchers_of_a_job_that_is_gone_are_known_no_more(change: str) -> None:
    bench = Bench(RUNNING_STATUS)
    await bench.again()
    assert bench.hub.uid_known(UID)
    job = bench.jobs.job
    assert job is not None
    metadata = {
        "being deleted": ObjectMeta(name="demo", namespace="ml", uid=UID, deletion_timestamp="2026-01-01T00:00:00Z"),
        "another of the same name": ObjectMeta(name="demo", namespace="ml", uid="other"),
    }.get(change)
    bench.jobs.job = TrainingJob(metadata=metadata, spec=job.spec) if metadata else None
    await bench.again()
    assert "create" not in bench.calls.made
    assert bench.hub.uid_known(UID) is (change == "being deleted")


async def test_who_was_heard_before_a_placement_is_created_is_not_taken_for_one_of_it() -> None:
    bench = Bench(PLACING_STATUS)
    await bench.engine.reconcile(KEY)
    bench.runtime.attempts.clear()
    bench.hub.receive(make_report(stage=wire.STAGE_WAITING, attempt=0, seq=3))
    assert bench.hub.heard(UID)
    await bench.again()
    assert ("create" in bench.calls.made, bench.hub.heard(UID)) == (True, ())


async def test_a_report_that_says_something_new_brings_the_job_to_the_queue() -> None:
    bench = Bench(RUNNING_STATUS)
    looked: list[JobKey] = []

    class Queue(WorkQueue):
        def add(self, key: JobKey, after: float = 0.0) -> None:
            looked.append(key)

    connect(bench.hub, bench.engine, Queue(bench.engine.reconcile))
    await bench.engine.reconcile(KEY)
    bench.report(step=37, seq=1)
    assert looked == [KEY]
    stranger = dataclasses.replace(make_report(), job=wire.JobRef("other", "ml", "demo"))
    bench.hub.receive(stranger)
    assert looked == [KEY]


async def test_an_error_is_counted_and_raised() -> None:
    bench = Bench(PLACING_STATUS)
    bench.calls.failures["placements"] = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        await bench.engine.reconcile(KEY)
    assert bench.metrics.results == ["error"]


async def test_whoever_watches_is_told_what_was_decided_also_between_two_writes() -> None:
    bench = Bench(RUNNING_STATUS)
    bench.runtime.attempts.add(1)
    await bench.again()
    bench.report(step=37, seq=1)
    await bench.again()
    steps: list[int | None] = []
    bench.engine.on_decided = lambda job: steps.append(job.status.step)
    bench.report(step=38, seq=2)
    await bench.again()
    assert (steps, "write_status" in bench.calls.made) == ([38], False)


async def test_an_operator_that_has_just_started_counts_jobs_that_it_has_nothing_to_write_about() -> None:
    slow = Degradation(name="pace", reason=reasons.SLOWER_THAN_PEERS, opened_at=format_time(NOW), attempt=1)
    before = Bench(msgspec.structs.replace(RUNNING_STATUS, degradations=(slow,)))
    before.runtime.attempts.add(1)
    await before.again()
    bench = Bench(before.status)
    bench.runtime.attempts.add(1)
    await bench.again()
    assert "write_status" not in bench.calls.made
    assert sum(bench.metrics.states.values()) == 1
    assert bench.metrics.degraded == {reasons.SLOWER_THAN_PEERS: 1}
    bench.jobs.job = None
    await bench.again()
    assert (bench.metrics.states, bench.metrics.degraded) == ({}, {})
