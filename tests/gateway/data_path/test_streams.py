"""Streams: when they are committed, what is sent while they are cold, and how they end badly."""
# ruff: noqa: SIM117

import asyncio
import json

import aiohttp
import pytest

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.core.hedging.fixed import NoHedge
from hedgerow_operator.gateway import streaming
from hedgerow_operator.gateway.events import Events, Weight, weigh
from hedgerow_operator.gateway.settings import ProviderUse, Speaks
from tests.gateway.data_path.gateways import client, post, serving, until
from tests.gateway.data_path.scripted import Scripted, answers, fails, streams

STREAM = {"stream": True}
DONE = b"data: [DONE]\n\n"


def chat(**delta: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}).encode() + b"\n\n"


EVENTS = {
    "a role alone is no content": (chat(role="assistant"), Weight.NOTHING),
    "a role with an empty text is no content": (chat(role="assistant", content=""), Weight.NOTHING),
    "a word is content": (chat(content="a"), Weight.CONTENT),
    "a tool call is content": (chat(tool_calls=[{"index": 0}]), Weight.CONTENT),
    "reasoning is content": (chat(reasoning_content="hm"), Weight.CONTENT),
    "a text of completions is content": (b'data: {"choices":[{"text":"a"}]}', Weight.CONTENT),
    "an end without a word is an answer": (b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}', Weight.CONTENT),
    "usage alone is no content": (b'data: {"choices":[],"usage":{}}', Weight.NOTHING),
    "a comment is no content": (b": waiting", Weight.NOTHING),
    "the end of all is no content": (b"data: [DONE]", Weight.NOTHING),
    "an error in the data is one": (b'data: {"error":{"message":"no"}}', Weight.ERROR),
    "an event named error is one": (b"event: error\ndata: no", Weight.ERROR),
    "what is no JSON is an error": (b"data: <html>", Weight.ERROR),
    "a response that is created is no content": (b'data: {"type":"response.created"}', Weight.NOTHING),
    "a delta of a response is content": (b'data: {"type":"response.output_text.delta","delta":"a"}', Weight.CONTENT),
    "a response that failed is an error": (b'data: {"type":"response.failed"}', Weight.ERROR),
}


@pytest.mark.parametrize("case", EVENTS)
def test_content_is_told_from_what_surrounds_it(case: str) -> None:
    event, weight = EVENTS[case]
    assert weigh(event, openai=True).weight is weight


@pytest.mark.parametrize("between", [b"\n\n", b"\r\n\r\n", b"\r\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_events_are_whole_however_their_bytes_are_cut(between: bytes, size: int) -> None:
    whole, events = b"".join(b"data: %d" % number + between for number in range(5)), Events()
    fed = [events.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
    assert b"".join(fed) + events.rest == whole
    assert all(not part.strip() or part.startswith(b"data") or part.lstrip().startswith(b"data") for part in fed)


async def test_a_cold_stream_is_kept_alive_and_then_fails_by_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "KEEP_ALIVE_SECONDS", 0.05)
    a = Scripted("a", fails("it died", after=0.18))
    async with serving(a, speaks=Speaks.OPENAI, policy=NoHedge()) as served:
        got = await post(served.url, STREAM)
    assert got.status == 200
    events = [event for event in got.text.split("\n\n") if event]
    assert events[:3] == [": waiting"] * 3
    assert "it died" in json.loads(events[-1].removeprefix("data: "))["error"]["message"]


async def test_a_client_that_expects_other_bytes_than_events_is_sent_no_comments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streaming, "KEEP_ALIVE_SECONDS", 0.02)
    a = Scripted("a", streams(b"RIFF", b"wave", kind="audio/wav", after=0.1))
    async with serving(a, policy=NoHedge()) as served:
        got = await post(served.url, STREAM)
    assert (got.headers["Content-Type"], got.text) == ("audio/wav", "RIFFwave")


async def test_a_stream_that_fails_before_anything_was_sent_has_an_honest_status() -> None:
    async with serving(Scripted("a", fails("it died")), speaks=Speaks.OPENAI, policy=NoHedge()) as served:
        got = await post(served.url, STREAM)
    assert got.status == 502


async def test_an_openai_stream_that_ends_before_it_is_complete_ends_by_an_error() -> None:
    async with serving(Scripted("a", streams(chat(content="a"))), speaks=Speaks.OPENAI) as served:
        got = await post(served.url, STREAM)
    assert "broke off" in got.text.split("\n\n")[1]


async def test_other_bytes_that_break_off_break_the_connection() -> None:
    a = Scripted("a", streams(b"first", ProviderError("cut"), kind="application/octet-stream"))
    async with serving(a) as served, client() as http:
        async with http.post(served.url, json=STREAM) as answer:
            assert answer.status == 200
            with pytest.raises(aiohttp.ClientError):
                await answer.read()
        await until(lambda: a.cancelled == ["a-1"])


async def test_events_come_as_they_are_made() -> None:
    a = Scripted("a", streams(chat(content="one"), 0.3, chat(content="two"), DONE))
    async with serving(a, speaks=Speaks.OPENAI, policy=NoHedge()) as served, client() as http:
        async with http.post(served.url, json=STREAM) as answer:
            async with asyncio.timeout(0.25):
                assert b"one" in await answer.content.readany()
            assert b"two" in await answer.content.read()


async def test_a_provider_that_does_not_stream_is_answered_whole() -> None:
    async with serving(Scripted("a", answers(b'{"choices":[]}')), speaks=Speaks.OPENAI) as served:
        got = await post(served.url, STREAM)
    assert (got.status, got.text) == (200, '{"choices":[]}')


async def test_each_event_is_shaped_for_the_client() -> None:
    a = Scripted("a", streams(b'data: {"token":"x"}\n\n', b'data: {"token":"y"}\n\n'))
    use = ProviderUse(name="a", response="{text: token}")
    async with serving(a, providers=(use,)) as served:
        got = await post(served.url, STREAM)
    assert got.text == 'data: {"text":"x"}\n\ndata: {"text":"y"}\n\n'
