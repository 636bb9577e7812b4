"""See Provider: an API of jobs, or one that answers when all is done, as declared."""

from collections.abc import AsyncGenerator

import msgspec

from hedgerow_operator.adapters.providers.channels import ChannelAttempt, own_name, within
from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import Answer, Call, Health, Update
from hedgerow_operator.adapters.providers.declared.declaration import Declaration, check, filled
from hedgerow_operator.adapters.providers.declared.jobs import DeclaredJobs, body_of
from hedgerow_operator.adapters.providers.declared.paths import picking
from hedgerow_operator.adapters.providers.exchange import LONGEST_SECONDS, Asked, exchange, passed_on
from hedgerow_operator.adapters.providers.jobs import JobAttempt, Jobs
from hedgerow_operator.adapters.providers.passthrough import asked_health, orphaned
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Reply
from hedgerow_operator.core.hedging.receipts import Receipt
from hedgerow_operator.core.hedging.seen import AttemptState


class DeclaredHTTP:
    """Raises ValueError in a sentence where the declaration cannot be used."""

    can_stream = False

    def __init__(self, setup: Setup, declared: Declaration) -> None:
        check(declared)
        self.name, self._setup, self._declared = setup.name, setup, declared
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self.shows_start = AttemptState.RUNNING in declared.states.values()
        self.free_in_queue = declared.free_in_queue
        self._connection = Connection(setup, filled(declared.headers, setup.secrets))
        self._jobs = Jobs(DeclaredJobs(setup, declared, self._connection), declared.poll_seconds)
        self._output = picking(declared.output)
        self._limiter = setup.attempts(declared.submit.url)

    async def submit(self, call: Call) -> JobAttempt | ChannelAttempt:
        """See Provider."""
        if self._declared.status is not None:
            return await self._jobs.submit(call)
        return ChannelAttempt(self._setup, own_name(), within(self._limiter, self._talk(call)))

    async def recover(self, job_id: str) -> Receipt:
        """See Provider."""
        if self._declared.status is None:
            return orphaned(self._setup, job_id)
        return await self._jobs.recover(job_id)

    async def health(self) -> Health:
        """See Provider. Without a call declared for it, nothing is asked."""
        if self._declared.health is None:
            return Health(ok=True, sentence="not asked: no call for its health is declared")
        return await asked_health(self._connection, self.name, self._declared.health.url)

    async def set_warm(self, workers: int) -> bool:
        """There is no such knob."""
        return False

    async def close(self) -> None:
        """See Provider."""
        await self._connection.close()

    async def _talk(self, call: Call) -> AsyncGenerator[Update, None]:
        submit = self._declared.submit
        one = Asked(
            what=self.name,
            url=submit.url,
            method=submit.method,
            body=msgspec.json.encode(body_of(submit, call)),
            headers={"Content-Type": "application/json"},
            longest=call.deadline if call.deadline is not None else LONGEST_SECONDS,
            scale=self._setup.scale,
        )
        async for update in exchange(self._connection, one, self._read):
            yield update

    def _read(self, reply: Reply) -> Update:
        output = self._output(read_json(self.name, reply))
        answer = Answer(status=reply.status, headers=passed_on(reply.headers), body=reply.body, output=output)
        return Update(state=AttemptState.VALID, answer=answer)
