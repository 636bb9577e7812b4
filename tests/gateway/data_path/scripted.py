"""A provider that does what a test says, attempt by attempt, and remembers what was asked of it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import chain, repeat

from msgspec import Struct

from hedgerow_operator.adapters.providers.contract import Answer, Call, Health, ProviderError, Update
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt
from hedgerow_operator.core.hedging.seen import AttemptState


class Step(Struct, frozen=True, kw_only=True):
    """after: seconds since the step before."""

    after: float = 0.0
    update: Update


class Course(Struct, frozen=True, kw_only=True):
    """One attempt. refused: raised by submit, ``submit_after`` seconds after the call."""

    steps: Sequence[Step] = ()
    refused: ProviderError | None = None
    submit_after: float = 0.0


def answers(
    body: bytes = b'{"ok":true}', *, after: float = 0.0, status: int = 200, queued: float | None = None
) -> Course:
    """Queued for ``queued`` seconds where given, and an answer ``after`` seconds from the launch."""
    answer = Answer(status=status, headers={"Content-Type": "application/json"}, body=body)
    steps = []
    if queued is not None:
        steps = [
            Step(update=Update(state=AttemptState.QUEUED)),
            Step(after=queued, update=Update(state=AttemptState.RUNNING)),
        ]
    steps.append(Step(after=after - (queued or 0.0), update=Update(state=AttemptState.VALID, answer=answer)))
    return Course(steps=steps)


def gives(output: object, *, after: float = 0.0) -> Course:
    """A job's output."""
    answer = Answer(status=200, output=output, execution_seconds=1.5, queue_seconds=0.25)
    running = Step(update=Update(state=AttemptState.RUNNING))
    return Course(steps=[running, Step(after=after, update=Update(state=AttemptState.VALID, answer=answer))])


def streams(*chunks: bytes | float | ProviderError, kind: str = "text/event-stream", after: float = 0.0) -> Course:
    """Its chunks; a number waits, an error breaks off."""
    answer = Answer(status=200, headers={"Content-Type": kind}, chunks=_chunks(chunks))
    return Course(steps=[Step(after=after, update=Update(state=AttemptState.VALID, answer=answer))])


async def _chunks(chunks: Iterable[bytes | float | ProviderError]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        if isinstance(chunk, ProviderError):
            raise chunk
        if isinstance(chunk, bytes):
            yield chunk
        else:
            await asyncio.sleep(chunk)


def fails(message: str = "it failed", *, after: float = 0.0, **how: object) -> Course:
    """FAILED, by an error of this kind."""
    error = ProviderError(message, **how)  # type: ignore[arg-type]
    return Course(steps=[Step(after=after, update=Update(state=AttemptState.FAILED, error=error))])


def refuses(message: str = "no", **how: object) -> Course:
    """Not taken at all."""
    return Course(refused=ProviderError(message, **{"safe_to_retry": True, **how}))  # type: ignore[arg-type]


def hangs(queued: bool = False) -> Course:
    """Never answers."""
    state = AttemptState.QUEUED if queued else AttemptState.RUNNING
    return Course(steps=[Step(update=Update(state=state)), Step(after=3600.0, update=Update(state=state))])


class ScriptedAttempt:
    """See Attempt."""

    def __init__(self, provider: "Scripted", number: int, course: Course) -> None:
        self.job_id, self._provider, self._course = f"{provider.name}-{number}", provider, course

    async def updates(self) -> AsyncIterator[Update]:
        for step in self._course.steps:
            if step.after > 0:
                await asyncio.sleep(step.after)
            yield step.update

    async def cancel(self) -> Receipt:
        self._provider.cancelled.append(self.job_id)
        return Receipt(provider=self._provider.name, job_id=self.job_id, evidence=Evidence.TERMINAL, leaked=False)


class Scripted:
    """See Provider. The last course is that of all further attempts."""

    def __init__(self, name: str, *courses: Course, shows_start: bool = True, free_in_queue: bool = True) -> None:
        self.name, self.shows_start, self.free_in_queue = name, shows_start, free_in_queue
        self.can_stream, self.usd_per_second, self.idle_billed_seconds = True, 0.001, 0.0
        self._courses = chain(courses, repeat(courses[-1]))
        self.calls: list[Call] = []
        self.uploaded: list[bytes] = []
        self.cancelled: list[str] = []

    async def submit(self, call: Call) -> ScriptedAttempt:
        self.calls.append(call)
        course = next(self._courses)
        if course.submit_after:
            await asyncio.sleep(course.submit_after)
        if course.refused is not None:
            raise course.refused
        if call.upload is not None:
            self.uploaded.append(call.body + b"".join([chunk async for chunk in call.upload]))
        return ScriptedAttempt(self, len(self.calls), course)

    async def recover(self, job_id: str) -> Receipt:
        return Receipt(provider=self.name, job_id=job_id)

    async def health(self) -> Health:
        return Health(ok=True, warm=1)

    async def set_warm(self, workers: int) -> bool:
        return False

    async def close(self) -> None:
        return None
