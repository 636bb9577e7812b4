"""An answer on its way to the client: its headers, and what of a stream may be passed on."""

import functools
from collections.abc import AsyncIterator, Mapping

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.gateway.events import Events
from hedgerow_operator.gateway.race import Won
from hedgerow_operator.gateway.settings import ProviderUse
from hedgerow_operator.gateway.shaping import shaped_events

_STAYS = frozenset(
    {
        "connection", "content-encoding", "content-length", "date", "keep-alive", "proxy-authenticate", "server",
        "set-cookie", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
# By which a stream of OpenAI's shows that it is complete.
_ENDS = (b"[DONE]", b'"finish_reason":"', b'"finish_reason": "', b"response.completed", b"response.incomplete",
         b"message_stop")  # fmt: skip


def headers_of(won: Won) -> dict[str, str]:
    """The provider's, and who it was."""
    headers = passed_on(won.answer.headers)
    headers["X-Hedgerow-Provider"] = won.provider
    headers["X-Hedgerow-Attempts"] = str(won.attempts)
    if won.queue_seconds is not None:
        headers["X-Hedgerow-Queue-Millis"] = str(round(won.queue_seconds * 1000))
    return headers


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """A provider's headers that a client is given."""
    return {name: value for name, value in headers.items() if not _stays(name)}


@functools.lru_cache(maxsize=512)
def _stays(name: str) -> bool:
    return name.lower() in _STAYS


async def whole_events(chunks: AsyncIterator[bytes], use: ProviderUse, openai: bool) -> AsyncIterator[bytes]:
    """Only events that are whole, so that whatever follows is read as it is meant. Raises ProviderError, also where an
    OpenAI stream ends before it is complete.
    """
    events, complete = Events(), False
    try:
        async for chunk in chunks:
            whole = events.feed(chunk)
            if whole:
                complete = complete or not openai or any(end in whole for end in _ENDS)
                yield shaped_events(use, whole)
    except ValueError as error:
        raise ProviderError(str(error)) from None
    if openai and not complete and not any(end in events.rest for end in _ENDS):
        raise ProviderError(f"the stream of {use.name} broke off before it was complete")
    if events.rest.strip():
        yield shaped_events(use, events.rest + b"\n\n")
