"""A declared API's jobs."""

from typing import Any

from hedgerow_operator.adapters.providers.channels import LONGEST_WAIT
from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import Answer, Call, ProviderError
from hedgerow_operator.adapters.providers.declared.declaration import HTTP_STATUS, Declaration, DeclaredCall, url_of
from hedgerow_operator.adapters.providers.declared.paths import picking
from hedgerow_operator.adapters.providers.exchange import passed_on
from hedgerow_operator.adapters.providers.job_api import Look, Taken
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Reply
from hedgerow_operator.adapters.providers.values import decoded, text, words
from hedgerow_operator.core.hedging.seen import AttemptState


class DeclaredJobs:
    """See JobApi. Only for a declaration with a status."""

    looks_per_second: float | None = None

    def __init__(self, setup: Setup, declared: Declaration, connection: Connection) -> None:
        self.setup, self._declared, self._connection = setup, declared, connection
        self.ends_when_acknowledged, self.free_in_queue = declared.ends_when_acknowledged, declared.free_in_queue
        self._job, self._output, self._error = map(picking, (declared.job, declared.output, declared.error))
        self._state = picking("" if declared.state == HTTP_STATUS else declared.state)
        self._submit = setup.attempts(declared.submit.url)

    async def begin(self, call: Call) -> Taken:
        """See JobApi."""
        what, submit = f"the job at {self.setup.name}", self._declared.submit
        body = body_of(submit, call)
        reply = await self._connection.ask(
            what, submit.method, submit.url, json=body, limiter=self._submit, longest_wait=LONGEST_WAIT
        )
        job_id = text(self._job(read_json(what, reply)))
        if not job_id:
            raise ProviderError(f"{what} was answered without an id where {self._declared.job} should be")
        return Taken(job_id=job_id)

    async def look(self, job_id: str) -> Look:
        """See JobApi."""
        assert self._declared.status is not None
        what = f"the state of {words(job_id)}"
        reply = await self._ask(what, self._declared.status, job_id)
        said = read_json(what, reply)
        status = str(reply.status) if self._declared.state == HTTP_STATUS else text(self._state(said))
        state = self._declared.states.get(status)
        if state is None:
            raise ProviderError(f"{what} is {words(status) or 'not told'}, which the state map does not name")
        if state is AttemptState.VALID:
            return Look(state=state, status=status, answer=await self._answer(job_id, reply, said))
        error = ProviderError(self._failure(said)) if state is AttemptState.FAILED else None
        return Look(state=state, status=status, error=error)

    async def stop(self, job_id: str) -> None:
        """See JobApi."""
        if self._declared.cancel is None:
            raise ProviderError("no way to cancel is declared")
        await self._ask(f"the cancel of {words(job_id)}", self._declared.cancel, job_id)

    async def _ask(self, what: str, call: DeclaredCall, job_id: str) -> Reply:
        return await self._connection.ask(what, call.method, url_of(call, job_id))

    async def _answer(self, job_id: str, reply: Reply, said: Any) -> Answer:
        if self._declared.result is not None:
            what = f"the result of {words(job_id)}"
            reply = await self._ask(what, self._declared.result, job_id)
            said = read_json(what, reply)
        return Answer(status=200, headers=passed_on(reply.headers), body=reply.body, output=self._output(said))

    def _failure(self, said: Any) -> str:
        reason = self._connection.scrubbed(words(self._error(said)))
        return "the job has failed" + (f": {reason}" if reason else "")


def body_of(submit: DeclaredCall, call: Call) -> Any:
    """The request in the API's shape. Raises ProviderError."""
    try:
        return picking(submit.body)(decoded(call.body or b"{}"))
    except ValueError as error:
        raise ProviderError(f"the request's input is {error}", safe_to_retry=True) from None
