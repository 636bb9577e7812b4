"""What went wrong in other gateways, by name: each case that the data path decides, on ours."""
# ruff: noqa: SIM117  (a gateway and its client are one thing, and what they are asked another)

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge, Race
from hedgerow_operator.gateway.settings import Speaks
from tests.gateway.data_path.gateways import client, serving, until
from tests.gateway.data_path.scripted import Scripted, answers, fails, hangs, refuses, streams

CASES = Path(__file__).resolve().parents[4] / "shared" / "data" / "cases" / "gateway_cases.json"
CHAT = "/v1/chat/completions"
STREAM = {"stream": True, "messages": []}
ROLE = b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
OVERLOADED = b'data: {"error":{"message":"overloaded","type":"overloaded_error"}}\n\n'
DONE = b"data: [DONE]\n\n"


def word(text: str) -> bytes:
    return b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % text.encode()


async def error_event_before_content() -> None:
    """g09"""
    a, b = Scripted("a", streams(ROLE, OVERLOADED)), Scripted("b", streams(ROLE, word("well"), DONE))
    async with serving(a, b, speaks=Speaks.OPENAI, policy=NoHedge()) as served, client() as http:
        async with http.post(served.url + CHAT, json=STREAM) as answer:
            text = await answer.text()
            assert answer.headers["X-Hedgerow-Provider"] == "b"
    assert "well" in text
    assert "overloaded" not in text


async def headers_decide_nothing() -> None:
    """g10"""
    a, b = Scripted("a", streams(5.0, word("late"))), Scripted("b", streams(ROLE, word("first"), DONE))
    async with serving(a, b, speaks=Speaks.OPENAI) as served, client() as http:
        async with http.post(served.url + CHAT, json=STREAM) as answer:
            assert "first" in await answer.text()
        await until(lambda: a.cancelled == ["a-1"])


async def no_splicing_after_the_first_content() -> None:
    """g11"""
    broken = ProviderError("the connection broke")
    a = Scripted("a", streams(*[word(str(number)) for number in range(20)], b'data: {"cho', broken))
    b = Scripted("b", streams(word("other"), DONE))
    async with serving(a, b, speaks=Speaks.OPENAI) as served, client() as http:
        async with http.post(served.url + CHAT, json=STREAM) as answer:
            events = [line for line in (await answer.text()).split("\n") if line]
    assert answer.status == 200
    assert len(events) == 21
    assert json.loads(events[-1].removeprefix("data: "))["error"]["message"] == "the connection broke"
    assert b.calls == []


async def usage_of_the_serving_attempt_alone() -> None:
    """g12"""
    usage = b'data: {"choices":[],"usage":{"total_tokens":%d}}\n\n'
    a = Scripted("a", streams(usage % 999, OVERLOADED))
    b = Scripted("b", streams(word("x"), usage % 7, DONE))
    async with serving(a, b, speaks=Speaks.OPENAI, policy=NoHedge()) as served, client() as http:
        async with http.post(served.url + CHAT, json=STREAM) as answer:
            text = await answer.text()
    assert "999" not in text
    assert '"total_tokens":7' in text


async def one_retry_layer() -> None:
    """g13"""
    providers = [Scripted(name, refuses("busy", retry_after=0.01)) for name in "ab"]
    async with serving(*providers, policy=NoHedge()) as served, client() as http:
        async with http.post(served.url, json={}) as answer:
            assert answer.status == 429
            assert answer.headers["Retry-After"] == "1"
    assert sum(len(provider.calls) for provider in providers) == 6


async def a_late_error_does_not_end_the_request() -> None:
    """g15"""
    a, b = Scripted("a", fails("HTTP 503", after=0.15)), Scripted("b", answers(b'"good"', after=0.2))
    async with serving(a, b) as served, client() as http:
        async with http.post(served.url, json={}) as answer:
            assert (answer.status, await answer.text()) == (200, '"good"')


async def every_attempt_is_counted() -> None:
    """g16"""
    a, b = Scripted("a", hangs()), Scripted("b", fails("HTTP 500"))
    async with serving(a, b, deadline_seconds=0.3) as served, client() as http:
        async with http.post(served.url, json={}) as answer:
            assert answer.status == 504
        counts = {one.name: one.attempts for one in served.endpoint.statistics().providers}
    assert counts["a"] == {"won": 0, "invalid": 0, "failed": 0, "cancelled": 1}
    assert counts["b"] == {"won": 0, "invalid": 0, "failed": 1, "cancelled": 0}


async def the_first_good_answer_wins() -> None:
    """g17"""
    a, b = Scripted("a", answers(b'"slow"', after=0.15)), Scripted("b", hangs())
    async with serving(a, b) as served, client() as http:
        async with http.post(served.url, json={}) as answer:
            assert await answer.text() == '"slow"'
            assert answer.headers["X-Hedgerow-Attempts"] == "2"
        await until(lambda: b.cancelled == ["b-1"])
    assert a.cancelled == []


async def one_key_and_one_body_for_each_request() -> None:
    """g20"""
    a, b = Scripted("a", hangs(), answers()), Scripted("b", answers())
    async with serving(a, b) as served, client() as http:
        for _twice in range(2):
            async with http.post(served.url, json={"seed": 1}) as answer:
                assert answer.status == 200
    first, again, second = a.calls[0], b.calls[0], a.calls[1]
    assert first.headers["Idempotency-Key"] == again.headers["Idempotency-Key"]
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]
    assert first.body == again.body


async def what_may_not_be_made_twice_is_not() -> None:
    """g21"""
    a, b = Scripted("a", fails("there was no answer in time", after=0.1)), Scripted("b", answers())
    async with serving(a, b) as served, client() as http:
        async with http.post(served.url, json={}, headers={"X-Hedgerow-Idempotent": "false"}) as answer:
            assert answer.status == 502
    assert b.calls == []


async def only_what_cannot_have_begun_is_retried() -> None:
    """g22"""
    marked = {"X-Hedgerow-Idempotent": "false"}
    a, b = Scripted("a", refuses("it cannot be reached")), Scripted("b", answers())
    async with serving(a, b) as served, client() as http:
        async with http.post(served.url, json={}, headers=marked) as answer:
            assert (answer.status, answer.headers["X-Hedgerow-Provider"]) == (200, "b")
    c, d = Scripted("a", fails("HTTP 502")), Scripted("b", answers())
    async with serving(c, d) as served, client() as http:
        async with http.post(served.url, json={}, headers=marked) as answer:
            assert answer.status == 502
    assert d.calls == []


async def who_has_failed_is_not_asked_again() -> None:
    """g23, g24"""
    a, b, c = Scripted("a", fails()), Scripted("b", fails()), Scripted("c", answers())
    async with serving(a, b, c, policy=NoHedge()) as served, client() as http:
        async with http.post(served.url, json={}) as answer:
            assert answer.headers["X-Hedgerow-Provider"] == "c"
    assert [len(one.calls) for one in (a, b, c)] == [1, 1, 1]


async def a_rate_limit_is_waited_for_and_a_quota_is_not() -> None:
    """g27"""
    waits = Scripted("a", refuses("too many", retry_after=0.2), answers())
    async with serving(waits, policy=NoHedge()) as served, client() as http:
        async with http.post(served.url, json={}) as answer:
            assert answer.status == 200
    assert len(waits.calls) == 2
    used_up = Scripted("a", refuses("the quota is used up", retry_after=0.2, exhausted=True), answers())
    async with serving(used_up, policy=NoHedge()) as served, client() as http:
        async with http.post(served.url, json={}) as answer:
            assert answer.status == 502
            assert "quota is used up" in await answer.text()
        async with http.post(served.url, json={}) as answer:
            assert answer.status == 503
    assert len(used_up.calls) == 1


async def a_client_that_leaves_ends_every_attempt() -> None:
    """g29"""
    bodies = ({}, {"stream": True})
    for body in bodies:
        a, b = Scripted("a", hangs()), Scripted("b", hangs(queued=True))
        async with serving(a, b, policy=Race(), max_live=2) as served, client() as http:
            asking = asyncio.ensure_future(http.post(served.url, json=body))
            await until(lambda a=a, b=b: len(a.calls) + len(b.calls) == 2)
            asking.cancel()
            await until(lambda a=a, b=b: (a.cancelled, b.cancelled) == (["a-1"], ["b-1"]))


async def a_client_that_leaves_in_mid_stream_ends_it() -> None:
    """g28"""
    a = Scripted("a", streams(word("one"), 30.0, word("two")))
    async with serving(a, speaks=Speaks.OPENAI, policy=Fixed()) as served, client() as http:
        async with http.post(served.url + CHAT, json=STREAM) as answer:
            assert b"one" in await answer.content.readany()
            answer.close()
        await until(lambda: a.cancelled == ["a-1"])


DECIDED: dict[str, Callable[[], Awaitable[None]]] = {
    "g09: an error event before the first content is retried": error_event_before_content,
    "g10: the first content decides, not the headers": headers_decide_nothing,
    "g11: no other provider is spliced in after the first content": no_splicing_after_the_first_content,
    "g12: the client sees the usage of the serving attempt alone": usage_of_the_serving_attempt_alone,
    "g13: attempts are bounded, whatever fails": one_retry_layer,
    "g15: a late error of one attempt waits for the other": a_late_error_does_not_end_the_request,
    "g16: every attempt is counted": every_attempt_is_counted,
    "g17: the first good answer wins and the rest is cancelled": the_first_good_answer_wins,
    "g20: one key for a request, one body for all its attempts": one_key_and_one_body_for_each_request,
    "g21: what may not be made twice is not replayed after a timeout": what_may_not_be_made_twice_is_not,
    "g22: only errors before anything can have begun are retried": only_what_cannot_have_begun_is_retried,
    "g23: a provider that failed for a request is not asked again by it": who_has_failed_is_not_asked_again,
    "g24: a dead provider is not tried again and again": who_has_failed_is_not_asked_again,
    "g27: a rate limit is waited for, a used-up quota is not": a_rate_limit_is_waited_for_and_a_quota_is_not,
    "g28: a stream whose client left is ended at the provider": a_client_that_leaves_in_mid_stream_ends_it,
    "g29: a client that leaves ends every attempt, streaming or not": a_client_that_leaves_ends_every_attempt,
}


@pytest.mark.parametrize("case", DECIDED)
async def test_case(case: str) -> None:
    await DECIDED[case]()


@pytest.mark.shared_data
def test_every_case_is_decided_by_the_data_path_or_is_about_money() -> None:
    about_money = {"g05", "g06"}
    known = {case["id"] for case in json.loads(CASES.read_text())}
    assert known == {name.split(":")[0] for name in DECIDED} | about_money
