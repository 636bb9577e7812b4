"""Real servers that hang, die, lie and refuse; many clients at once; clients that leave."""
# ruff: noqa: SIM117

import asyncio
import contextlib
import io
import json

import pytest

from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge
from hedgerow_operator.gateway.settings import Speaks
from tests.gateway.data_path.gateways import client, post, serving, until
from tests.gateway.data_path.upstreams import upstream

CHAT = "/chat/completions"
OPENAI = {"speaks": Speaks.OPENAI, "policy": Fixed(after_seconds=0.1)}


@pytest.mark.parametrize("how", ["hangs", "dies", "lies", "refuses"])
@pytest.mark.parametrize("stream", [False, True])
async def test_whatever_the_first_does_the_second_answers(how: str, stream: bool) -> None:
    async with (
        upstream("bad", how) as (bad, first),
        upstream("good", "streams" if stream else "answers") as (_, second),
    ):
        async with serving(first, second, **OPENAI) as served:
            got = await post(served.url + CHAT, {"stream": stream})
            assert got.status == 200
            assert got.headers["X-Hedgerow-Provider"] == "good"
            assert "overloaded" not in got.text
            if how == "hangs":
                await until(lambda: bad.left == 1)


async def test_a_stream_that_is_cut_ends_by_an_error_and_whole_events_only() -> None:
    async with upstream("cut", "cuts") as (_, first), upstream("good", "streams") as (good, second):
        async with serving(first, second, **OPENAI) as served:
            got = await post(served.url + CHAT, {"stream": True})
    events = [json.loads(event.removeprefix("data: ")) for event in got.text.split("\n\n") if event]
    assert [event["choices"][0]["delta"]["content"] for event in events[:-1]] == ["a", "b", "c"]
    assert "error" in events[-1]
    assert good.asked == 0


async def test_a_client_that_leaves_is_noticed_by_the_server_behind() -> None:
    async with upstream("slow", "hangs") as (slow, only):
        async with serving(only, **OPENAI) as served, client() as http:
            for body in ({}, {"stream": True}):
                before = slow.left
                asking = asyncio.ensure_future(http.post(served.url + CHAT, json=body))
                await until(lambda before=before: slow.asked > before)
                asking.cancel()
                await until(lambda before=before: slow.left > before)


async def test_a_large_body_reaches_the_server_as_it_comes() -> None:
    body = bytes(range(256)) * 8192
    async with upstream("counts", "counts") as (_, only):
        async with serving(only, max_body_bytes=65536) as served, client() as http:
            async with http.post(served.url + "/upload", data=io.BytesIO(body)) as answer:
                assert (await answer.json())["bytes"] == len(body)


async def test_five_hundred_requests_at_once_are_all_answered() -> None:
    async with upstream("bad", "hangs") as (bad, first), upstream("good", "answers") as (good, second):
        async with serving(first, second, deadline_seconds=100.0, **OPENAI) as served, client() as http:

            async def ask() -> int:
                async with http.post(served.url + CHAT, json={}) as answer:
                    await answer.read()
                    return answer.status

            assert set(await asyncio.gather(*(ask() for _ in range(500)))) == {200}
            await until(lambda: bad.left == bad.asked)
            assert served.endpoint.counts.running == 0
    assert good.asked == 500


async def test_five_hundred_slow_clients_do_not_hold_up_the_others() -> None:
    async with upstream("good", "answers") as (_, only), serving(only, **OPENAI) as served:
        slow = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(500)]
        for _reader, writer in slow:
            writer.write(b"POST /team/model/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
        loop = asyncio.get_running_loop()
        began = loop.time()
        got = await post(served.url + CHAT, {})
        assert got.status == 200
        assert loop.time() - began < 10.0  # a body has longer than that to come
        for _reader, writer in slow:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
        await until(lambda: served.endpoint.counts.running == 0)


async def test_a_gateway_that_ends_lets_requests_finish_and_then_cancels_them() -> None:
    async with upstream("slow", "hangs") as (slow, only):
        async with serving(only, policy=NoHedge(), speaks=Speaks.OPENAI) as served, client() as http:
            asking = asyncio.ensure_future(http.post(served.url + CHAT, json={}))
            await until(lambda: slow.asked == 1)
            ending = asyncio.ensure_future(served.listening.stop(0.3))
            await asyncio.sleep(0.05)
            assert (await post(served.url + CHAT, {})).status == 503
            assert not asking.done()
            await ending
            with contextlib.suppress(Exception):
                await asking
            await until(lambda: slow.left == 1)
