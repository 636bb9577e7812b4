"""When a stream is a provider's: with the first event that has content. What came before it is kept until then."""

from collections.abc import AsyncIterator

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Answer, ProviderError
from hedgerow_operator.gateway.asked import Accepted
from hedgerow_operator.gateway.events import Events, Weight, split_events, weigh

# A provider that sends so much before any content has none.
_MOST_BEFORE_CONTENT = 1024 * 1024
_MOST_WHOLE = 64 * 1024 * 1024


def is_events(answer: Answer) -> bool:
    """Whether the answer is a stream of server-sent events."""
    kind = next((value for name, value in answer.headers.items() if name.lower() == "content-type"), "")
    return kind.lower().startswith("text/event-stream")


async def committed(answer: Answer, openai: bool) -> Accepted:
    """The answer once its first content is there, with all that came before it; what is no stream although OpenAI's
    clients asked for one, whole. Waits for it; raises ProviderError.
    """
    assert answer.chunks is not None
    chunks = answer.chunks
    if not is_events(answer):
        if openai:
            return Accepted(replace(answer, chunks=None, body=await _whole(chunks)))
        first = await anext(chunks, b"")
        return Accepted(replace(answer, chunks=_joined(first, chunks)))
    events, before = Events(), bytearray()
    try:
        async for chunk in chunks:
            whole = events.feed(chunk)
            before += whole
            for event in split_events(whole):
                weighed = weigh(event, openai)
                if weighed.weight is Weight.ERROR:
                    return Accepted(answer, f"the stream began with an error: {weighed.sentence}")
                if weighed.weight is Weight.CONTENT:
                    return Accepted(replace(answer, chunks=_joined(bytes(before) + events.rest, chunks)))
            if len(before) > _MOST_BEFORE_CONTENT:
                return Accepted(answer, "the stream has sent a megabyte without content")
    except ValueError as error:
        raise ProviderError(str(error)) from None
    return Accepted(answer, "the stream ended before any content")


async def _whole(chunks: AsyncIterator[bytes]) -> bytes:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > _MOST_WHOLE:
            raise ProviderError("an answer that is no stream is larger than 64 MiB")
    return bytes(body)


async def _joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if first:
        yield first
    async for chunk in rest:
        yield chunk
