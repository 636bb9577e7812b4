"""RunPod's queue: run, status, cancel (docs.runpod.io/serverless/endpoints/operation-reference)."""

from collections.abc import Mapping
from typing import Any

from hedgerow_operator.adapters.providers.channels import LONGEST_WAIT
from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import Answer, Call, ProviderError
from hedgerow_operator.adapters.providers.job_api import Look, Taken
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Reply
from hedgerow_operator.adapters.providers.values import decoded, mapping, seconds, text, words
from hedgerow_operator.core.hedging.seen import AttemptState

_STATES = {
    "IN_QUEUE": AttemptState.QUEUED,
    "IN_PROGRESS": AttemptState.RUNNING,
    "RUNNING": AttemptState.RUNNING,
    "COMPLETED": AttemptState.VALID,
    "FAILED": AttemptState.FAILED,
    "TIMED_OUT": AttemptState.FAILED,
    "CANCELLED": AttemptState.CANCELLED,
}
# A job is deleted, its result with it, so long after the request's deadline: what a crash leaves behind ends by itself.
_TTL_MARGIN_SECONDS = 60.0
_LEAST_TTL_SECONDS = 10.0
# /run takes 10 MB, /runsync 20 MB.
_MOST_RUN_BYTES = 10_000_000
_STATUS_PER_SECOND = 200.0


class RunPodJobs:
    """See JobApi. url: of the endpoint."""

    ends_when_acknowledged = False
    free_in_queue = True
    looks_per_second: float | None = _STATUS_PER_SECOND

    def __init__(self, setup: Setup, url: str, connection: Connection) -> None:
        self.setup, self._url, self._connection = setup, url, connection
        limits = setup.limits
        self._run = setup.limiter(url, "run", limits.per_ten_seconds or 1000, concurrent=limits.concurrent or 200)
        self.looks = setup.limiter(url, "status", 2000, concurrent=400)
        self._cancel = setup.limiter(url, "cancel", 100, concurrent=20)
        self._sync = setup.limiter(url, "runsync", 2000, concurrent=400)

    async def begin(self, call: Call) -> Taken:
        """See JobApi."""
        body = body_of(call)
        what = f"the job at {self.setup.name}"
        if len(call.body) > _MOST_RUN_BYTES:
            return await self._begin_large(what, body)
        reply = await self._connection.ask(
            what, "POST", f"{self._url}/run", json=body, limiter=self._run, longest_wait=LONGEST_WAIT
        )
        return self._taken(what, reply)

    async def look(self, job_id: str) -> Look:
        """See JobApi."""
        what = f"the state of {job_id}"
        reply = await self._connection.ask(what, "GET", f"{self._url}/status/{job_id}", limiter=self.looks)
        return self._read(what, reply)

    async def stop(self, job_id: str) -> None:
        """See JobApi."""
        await self._connection.ask(
            f"the cancel of {job_id}", "POST", f"{self._url}/cancel/{job_id}", limiter=self._cancel
        )

    async def _begin_large(self, what: str, body: Mapping[str, Any]) -> Taken:
        """By runsync, which takes more; it waits as little as it can and the job goes on in the queue."""
        reply = await self._connection.ask(
            what, "POST", f"{self._url}/runsync?wait=1000", json=body, limiter=self._sync, longest_wait=LONGEST_WAIT
        )
        return self._taken(what, reply)

    def _taken(self, what: str, reply: Reply) -> Taken:
        job_id = text(mapping(read_json(what, reply)).get("id"))
        if not job_id or "/" in job_id or "?" in job_id:
            raise ProviderError(f"{what} was answered without an id")
        return Taken(job_id=job_id, look=self._read(what, reply))

    def _read(self, what: str, reply: Reply) -> Look:
        said = mapping(read_json(what, reply))
        status = text(said.get("status"))
        state = _STATES.get(status)
        if state is None:
            raise ProviderError(f"{what} is {words(status) or 'not told'}, which RunPod does not document")
        queue, execution = seconds(said.get("delayTime")), seconds(said.get("executionTime"))
        if state is AttemptState.VALID:
            answer = Answer(
                status=200,
                headers={"Content-Type": "application/json"},
                body=reply.body,
                output=said.get("output"),
                queue_seconds=queue,
                execution_seconds=execution,
            )
            return Look(state=state, status=status, answer=answer, execution_seconds=execution)
        return Look(state=state, status=status, error=self._error(state, said), execution_seconds=execution)

    def _error(self, state: AttemptState, said: Mapping[str, Any]) -> ProviderError | None:
        if state is not AttemptState.FAILED:
            return None
        told = said.get("error") or mapping(said.get("output")).get("error") or ""
        reason = self._connection.scrubbed(words(told))
        return ProviderError(f"the job has ended as {text(said.get('status'))}" + (f": {reason}" if reason else ""))


def body_of(call: Call) -> dict[str, Any]:
    """What /run takes. Raises ProviderError."""
    try:
        given = decoded(call.body or b"{}")
    except ValueError as error:
        raise ProviderError(f"the request's input is {error}", safe_to_retry=True) from None
    body: dict[str, Any] = {"input": given}
    if call.deadline is not None:
        ttl = max(_LEAST_TTL_SECONDS, call.deadline + _TTL_MARGIN_SECONDS)
        body["policy"] = {"ttl": round(ttl * 1000)}
    return body
