"""What a simulated provider answers, in the shape that it was asked in."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from hedgerow_operator.adapters.providers.contract import Answer, Call, ProviderError
from hedgerow_operator.adapters.providers.values import count, decoded, mapping
from hedgerow_operator.replay.hedging.rounds import Course

_WORDS = ("The", " answer", " is", " forty", "-two", ".")


def asked_round(call: Call) -> int | None:
    """The ``round`` that the request names: so the same request takes the same course again, at every provider."""
    try:
        return count(mapping(decoded(call.body)).get("round"))
    except ValueError:
        return None


def answer(call: Call, output: Any, course: Course) -> Answer:
    """A job's output, or a chat completion where one was asked for."""
    if call.path.endswith("chat/completions") and output is not None:
        output = _completion(output)
    return Answer(
        status=200,
        headers={"Content-Type": "application/json"},
        body=msgspec.json.encode(output) if output is not None else b"",
        output=output,
        queue_seconds=course.queue_seconds,
        execution_seconds=course.execution_seconds,
    )


def streamed(output: Any, pause: float, *, stall: bool, cut: bool) -> Answer:
    """Server-sent events, a word each, ``pause`` seconds apart."""
    return Answer(
        status=200,
        headers={"Content-Type": "text/event-stream"},
        chunks=_events(output, pause, stall=stall, cut=cut),
    )


async def _events(output: Any, pause: float, *, stall: bool, cut: bool) -> AsyncIterator[bytes]:
    by = str(mapping(output).get("provider", "simulated"))
    yield _event(by, {"role": "assistant", "content": ""})
    for number, word in enumerate(_WORDS):
        yield _event(by, {"content": word})
        if cut and number == 0:
            raise ProviderError("the connection broke before the answer was whole")
        await asyncio.sleep(pause if not stall else 3600.0)
    yield _event(by, {}, "stop")
    yield b"data: [DONE]\n\n"


def _event(by: str, delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "chatcmpl-simulated", "object": "chat.completion.chunk", "created": 0, "model": by}
    return b"data: " + msgspec.json.encode({**body, "choices": [choice]}) + b"\n\n"


def _completion(output: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "".join(_WORDS)}
    return {
        "id": "chatcmpl-simulated",
        "object": "chat.completion",
        "created": 0,
        "model": str(mapping(output).get("provider", "simulated")),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": len(_WORDS), "total_tokens": 1 + len(_WORDS)},
    }
