"""From a client's request to the race: the calls that are made of it, and what counts as an answer."""

from collections.abc import Sequence

from hedgerow_operator.adapters.providers.contract import Answer, Call
from hedgerow_operator.gateway.asked import Accepted, Ask
from hedgerow_operator.gateway.commitment import committed
from hedgerow_operator.gateway.endpoint import Endpoint
from hedgerow_operator.gateway.incoming import Incoming
from hedgerow_operator.gateway.ports import Validator
from hedgerow_operator.gateway.settings import ProviderUse, Speaks
from hedgerow_operator.gateway.shaping import call_for, shaped


class Asking:
    """One request over one endpoint."""

    def __init__(self, endpoint: Endpoint, incoming: Incoming, *, stream: bool) -> None:
        self._incoming, self._stream = incoming, stream
        self._openai = endpoint.settings.speaks is Speaks.OPENAI
        self._whole_checks, self._stream_checks = endpoint.whole_checks, endpoint.stream_checks

    def ask(self, deadline: float | None = None) -> Ask:
        """What the race is asked to do, until ``deadline`` or that of the request."""
        incoming = self._incoming
        return Ask(
            request_id=incoming.request_id,
            call=self._call,
            accept=self._accept,
            deadline=incoming.deadline if deadline is None else deadline,
            stream=self._stream,
            idempotent=incoming.idempotent,
            once=incoming.upload is not None,
            session=incoming.session,
        )

    def _call(self, use: ProviderUse, seconds: float) -> Call:
        return call_for(use, self._incoming, stream=self._stream, seconds=seconds)

    async def _accept(self, use: ProviderUse, answer: Answer) -> Accepted:
        if answer.chunks is not None:
            fault = await _fault(self._stream_checks, answer)
            accepted = Accepted(answer, fault) if fault else await committed(answer, self._openai)
            if accepted.fault or accepted.answer.chunks is not None:
                return accepted
            answer = accepted.answer
        if self._openai and answer.output is None and answer.body.startswith(b'{"error"'):
            return Accepted(answer, f"{use.name} answered an error with status {answer.status}")
        if use.response:
            answer = shaped(use, answer)
        return Accepted(answer, await _fault(self._whole_checks, answer) if self._whole_checks else "")


async def _fault(checks: Sequence[Validator], answer: Answer) -> str:
    for check in checks:
        fault = await check.check(answer)
        if fault:
            return fault
    return ""
