"""Jobs at the small server of ours that stands before a function or on a machine: submit, result, cancel, stats."""

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
    "queued": AttemptState.QUEUED,
    "running": AttemptState.RUNNING,
    "unknown": AttemptState.UNKNOWN,
    "done": AttemptState.VALID,
    "failed": AttemptState.FAILED,
    "cancelled": AttemptState.CANCELLED,
}


class WrappedJobs:
    """See JobApi. What its answers hold: examples/providers/README.md."""

    looks_per_second: float | None = None

    def __init__(self, setup: Setup, url: str, connection: Connection, *, ends_when_acknowledged: bool) -> None:
        self.setup, self.url, self._connection = setup, url.rstrip("/"), connection
        self.ends_when_acknowledged, self.free_in_queue = ends_when_acknowledged, True
        self._submit = setup.attempts(self.url)

    async def begin(self, call: Call) -> Taken:
        """See JobApi."""
        what = f"the job at {self.setup.name}"
        try:
            body = {"input": decoded(call.body or b"{}")}
        except ValueError as error:
            raise ProviderError(f"the request's input is {error}", safe_to_retry=True) from None
        reply = await self._connection.ask(
            what, "POST", f"{self.url}/submit", json=body, limiter=self._submit, longest_wait=LONGEST_WAIT
        )
        job_id = text(mapping(read_json(what, reply)).get("call_id"))
        if not job_id or "/" in job_id or "?" in job_id:
            raise ProviderError(f"{what} was answered without a call_id")
        return Taken(job_id=job_id, look=Look(state=AttemptState.UNKNOWN))

    async def look(self, job_id: str) -> Look:
        """See JobApi."""
        what = f"the result of {job_id}"
        reply = await self._connection.ask(what, "GET", f"{self.url}/result/{job_id}")
        said = mapping(read_json(what, reply))
        status = text(said.get("state"))
        state = _STATES.get(status)
        if state is None:
            raise ProviderError(f"{what} has the state {words(status) or 'nothing'}, which our wrapper does not know")
        error = None
        if state is AttemptState.FAILED:
            error = ProviderError(f"the job has failed: {self._connection.scrubbed(words(said.get('error')))}")
        ran = seconds(said.get("execution_ms"))
        return Look(state=state, status=status, answer=_answer(state, reply, said), error=error, execution_seconds=ran)

    async def stop(self, job_id: str) -> None:
        """See JobApi."""
        await self._connection.ask(f"the cancel of {job_id}", "POST", f"{self.url}/cancel/{job_id}")

    async def stats(self) -> Any:
        """backlog, runners, running, headroom. Raises ProviderError."""
        what = f"the state of {self.setup.name}"
        return mapping(read_json(what, await self._connection.ask(what, "GET", f"{self.url}/stats")))

    async def scale(self, workers: int) -> None:
        """Raises ProviderError."""
        what = f"the number of warm containers of {self.setup.name}"
        await self._connection.ask(what, "POST", f"{self.url}/autoscaler", json={"min_containers": workers})


def _answer(state: AttemptState, reply: Reply, said: Any) -> Answer | None:
    if state is not AttemptState.VALID:
        return None
    return Answer(
        status=200,
        headers={"Content-Type": "application/json"},
        body=reply.body,
        output=said.get("output"),
        queue_seconds=seconds(said.get("queue_ms")),
        execution_seconds=seconds(said.get("execution_ms")),
    )
