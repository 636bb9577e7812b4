"""Jobs of one endpoint: each is a race that goes on without its client, and a result that can be asked for later."""

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from hedgerow_operator.gateway.asked import LostError, WhyLost
from hedgerow_operator.gateway.asking import Asking
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.incoming import Incoming
from hedgerow_operator.gateway.journal_entries import KeptJob
from hedgerow_operator.gateway.passing_on import headers_of
from hedgerow_operator.gateway.race import Race, Won
from hedgerow_operator.gateway.reply import RefusedError
from hedgerow_operator.gateway.shaping import body_of, output_of

_MOST_JOBS = 10_000
_NO_INPUT = Incoming(request_id="", method="POST", path="", headers={}, body=b"", deadline=0.0)
# Of results that are kept to be asked for; beyond it the oldest go.
_MOST_BYTES = 256 * 1024 * 1024


class JobState(StrEnum):
    """As RunPod names them, so that its clients can read them."""

    IN_QUEUE = "IN_QUEUE"
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"


# What is left to say of a job that another process had.
LOST = "the gateway ended before this job was answered, and what it had begun at providers is given up; send it anew"
LOST_RESULT = "this job was completed, but its result is gone: the gateway has ended since; send it anew"
FINAL = frozenset({JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT})


class Wanted(Struct, frozen=True, kw_only=True):
    """What a client asks for. incoming: its input is the body. webhook: where its end is told; empty: nowhere.
    seconds: how long it may take.
    """

    incoming: Incoming
    seconds: float
    webhook: str = ""


class Job:
    """One of them. Times by the loop's clock. lost: a gateway before this one had it; its name is all that is left."""

    def __init__(self, job_id: str, wanted: Wanted) -> None:
        self.id, self.wanted = job_id, wanted
        self.final: JobState | None = None
        self.output: Any = None
        self.error = ""
        self.headers: Mapping[str, str] = {}
        self.delay: float | None = None
        self.execution: float | None = None
        self.ended_at: float | None = None
        self.size = 0
        self.streamed = self.lost = False
        self.race: Race | None = None
        self.task: asyncio.Task[None] | None = None
        self.done = asyncio.Event()

    @property
    def state(self) -> JobState:
        """As it is now."""
        if self.final is not None:
            return self.final
        return JobState.IN_PROGRESS if self.race is not None and self.race.any_started else JobState.IN_QUEUE

    def shown(self) -> dict[str, Any]:
        """The object that a client is given."""
        shown: dict[str, Any] = {"id": self.id, "status": str(self.state)}
        if self.delay is not None:
            shown["delayTime"] = round(self.delay * 1000)
        if self.execution is not None:
            shown["executionTime"] = round(self.execution * 1000)
        if self.final is JobState.COMPLETED:
            shown["output"] = self.output
        elif self.error:
            shown["error"] = self.error
        return shown


class Jobs:
    """Of one endpoint; bounded. ended: told of each job that has ended. owner: begins every job id."""

    def __init__(self, endpoint: Endpoint, owner: str, ended: Callable[[Job], None]) -> None:
        self._endpoint, self._owner, self._ended = endpoint, owner, ended
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self.retried = self._bytes = 0
        book = endpoint.parts.jobs
        self._lost = {kept.id: self._taken_over(kept) for kept in (book.left() if book is not None else ())}

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    def begin(self, wanted: Wanted) -> Job:
        """Take one. Raises RefusedError."""
        self._forget_old()
        if len(self._jobs) >= _MOST_JOBS:
            raise RefusedError(429, f"this endpoint holds {_MOST_JOBS} jobs already", retry_after=5.0)
        job = Job(f"{self._owner}-{uuid.uuid4().hex}", wanted)
        self._jobs[job.id] = job
        self._start(job)
        return job

    async def written(self, job: Job) -> None:
        """Until its name outlives this process: before that, nobody is to be given it."""
        book, wanted = self._endpoint.parts.jobs, job.wanted
        if book is not None:
            await book.begun(job.id, wanted.seconds + self._endpoint.settings.result_seconds, wanted.webhook)

    def find(self, job_id: str) -> Job:
        """Raises RefusedError."""
        self._forget_old()
        job = self._jobs.get(job_id) or self._lost.get(job_id)
        if job is None:
            raise RefusedError(404, "there is no such job; results are kept for a while only")
        return job

    def retry(self, job: Job) -> None:
        """Once more, under the same name. Raises RefusedError."""
        if job.lost:
            raise RefusedError(400, "its input went with the gateway that had it; send the job anew")
        if job.final not in (JobState.FAILED, JobState.TIMED_OUT):
            raise RefusedError(400, f"only jobs that failed or timed out can be retried; this one is {job.state}")
        job.final, job.error, job.ended_at, job.done = None, "", None, asyncio.Event()
        job.streamed = False
        self.retried += 1
        self._start(job)

    def cancel(self, job: Job) -> None:
        """End it: nothing will be answered any more."""
        if job.final is None and job.task is not None:
            self._end(job, JobState.CANCELLED)
            job.task.cancel()

    def _start(self, job: Job) -> None:
        job.task = asyncio.get_running_loop().create_task(self._run(job))
        self._endpoint.start(job.task)

    async def _run(self, job: Job) -> None:
        loop, incoming, counts = asyncio.get_running_loop(), job.wanted.incoming, self._endpoint.counts
        ask = Asking(self._endpoint, incoming, stream=False).ask(loop.time() + job.wanted.seconds)
        job.race = Race(self._endpoint, ask)
        counts.running += 1
        try:
            won = await job.race.run()
            won.run.finish(loop.time())
            self._answered(job, won)
        except LostError as lost:
            job.error = str(lost)
            self._end(job, JobState.TIMED_OUT if lost.why is WhyLost.DEADLINE else JobState.FAILED)
        finally:
            counts.running -= 1
            if job.final is None:
                self._end(job, JobState.CANCELLED)

    def _answered(self, job: Job, won: Won) -> None:
        job.headers, answer = headers_of(won), won.answer
        job.delay = won.queue_seconds
        job.execution = answer.execution_seconds
        if answer.status >= 400:
            job.error = body_of(answer)[:1000].decode(errors="replace")
            self._end(job, JobState.FAILED)
        else:
            job.output, job.size = output_of(answer), len(answer.body)
            self._bytes += job.size
            self._end(job, JobState.COMPLETED)

    def _end(self, job: Job, state: JobState) -> None:
        if job.final is None:
            job.final, job.ended_at = state, asyncio.get_running_loop().time()
            job.done.set()
            book = self._endpoint.parts.jobs
            if book is not None:
                book.ended(job.id, state, job.error, self._endpoint.settings.result_seconds)
            self._ended(job)

    def _taken_over(self, kept: KeptJob) -> Job:
        """What its client is told of a job that went with another gateway."""
        job = Job(kept.id, Wanted(incoming=_NO_INPUT, seconds=0.0, webhook=kept.webhook))
        job.lost, job.error = True, kept.error or (LOST_RESULT if kept.state == JobState.COMPLETED else "")
        if not kept.state:
            job.error = LOST
            self._end(job, JobState.FAILED)
            return job
        job.final = JobState.FAILED if kept.state == JobState.COMPLETED else JobState(kept.state)
        left = kept.until - time.time()
        job.ended_at = asyncio.get_running_loop().time() + left - self._endpoint.settings.result_seconds
        return job

    def _forget_old(self) -> None:
        now, kept = asyncio.get_running_loop().time(), self._endpoint.settings.result_seconds
        while self._lost and (next(iter(self._lost.values())).ended_at or 0.0) + kept <= now:
            del self._lost[next(iter(self._lost))]
        while self._jobs:
            job = next(iter(self._jobs.values()))
            if job.ended_at is None or (job.ended_at + kept > now and self._bytes <= _MOST_BYTES):
                return
            del self._jobs[job.id]
            self._bytes -= job.size
            if self._endpoint.parts.jobs is not None:
                self._endpoint.parts.jobs.forgotten(job.id)
