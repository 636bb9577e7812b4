"""Requests with the same Idempotency-Key are made once."""

import asyncio

from hedgerow_operator.core.hedging.fixed import NoHedge
from hedgerow_operator.gateway.idempotency import KEPT_SECONDS, Once
from hedgerow_operator.gateway.incoming import Incoming
from hedgerow_operator.gateway.peers import Peers, Replica
from hedgerow_operator.gateway.reply import Reply
from hedgerow_operator.gateway.settings import ApiKeys, Speaks
from tests.gateway.data_path.gateways import post, serving, until
from tests.gateway.data_path.scripted import Scripted, answers, fails, gives, streams

KEY = {"Idempotency-Key": "k1"}


async def test_the_same_request_is_given_the_same_answer() -> None:
    a = Scripted("a", answers(b"first"), answers(b"second"))
    async with serving(a) as served:
        first = await post(served.url, {"x": 1}, headers=KEY)
        again = await post(served.url, {"x": 1}, headers=KEY)
        other = await post(served.url, {"x": 1}, headers={"Idempotency-Key": "k2"})
    assert (first.text, again.text, other.text) == ("first", "first", "second")
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers


async def test_another_request_with_the_same_key_is_refused() -> None:
    async with serving(Scripted("a", answers())) as served:
        await post(served.url, {"x": 1}, headers=KEY)
        got = await post(served.url, {"x": 2}, headers=KEY)
        elsewhere = await post(f"{served.url}/other", {"x": 1}, headers=KEY)
    assert (got.status, elsewhere.status) == (422, 422)
    assert "use a new key" in got.json()["error"]


async def test_those_that_ask_at_the_same_time_wait_for_one_answer() -> None:
    a = Scripted("a", answers(after=0.2))
    async with serving(a, policy=NoHedge()) as served:
        got = await asyncio.gather(*(post(served.url, {}, headers=KEY) for _ in range(20)))
    assert {one.status for one in got} == {200}
    assert len(a.calls) == 1


async def test_what_failed_is_made_anew() -> None:
    a = Scripted("a", fails(), answers())
    async with serving(a, policy=NoHedge()) as served:
        got = [await post(served.url, {}, headers=KEY) for _ in range(2)]
    assert [one.status for one in got] == [502, 200]


async def test_a_stream_is_kept_too_and_not_shared_while_it_runs() -> None:
    a = Scripted("a", streams(b"data: 1\n\n", 0.2, b"data: 2\n\n"))
    async with serving(a, policy=NoHedge()) as served:
        asking = asyncio.ensure_future(post(served.url, {"stream": True}, headers=KEY))
        await until(lambda: len(a.calls) == 1)
        meanwhile = await post(served.url, {"stream": True}, headers=KEY)
        first = await asking
        again = await post(served.url, {"stream": True}, headers=KEY)
    assert meanwhile.status == 409
    assert first.text == again.text == "data: 1\n\ndata: 2\n\n"
    assert len(a.calls) == 1


async def test_a_key_is_one_clients_own() -> None:
    a = Scripted("a", answers(b"alice's"), answers(b"bob's"))
    async with serving(a, keys=ApiKeys({"alice": b"ka", "bob": b"kb"})) as served:
        got = [await post(served.url, {}, headers={**KEY, "Authorization": f"Bearer {key}"}) for key in ("ka", "kb")]
    assert [one.text for one in got] == ["alice's", "bob's"]


async def test_a_job_with_the_same_key_is_the_same_job() -> None:
    a = Scripted("a", gives(1))
    async with serving(a, speaks=Speaks.JOB) as served:
        first, again = [await post(f"{served.url}/run", {"input": 1}, headers=KEY) for _ in range(2)]
    assert first.json()["id"] == again.json()["id"]


async def test_a_key_is_forgotten_after_ten_minutes() -> None:
    now = 0.0
    once = Once(lambda: now)
    asked = Incoming(request_id="r", method="POST", path="", headers={}, body=b"1", deadline=9.0, key="k")
    assert await once.begin(asked, wait=True) is None
    once.keep("k", Reply(status=200, headers={}, body=b"kept"))
    now = KEPT_SECONDS - 1
    assert await once.begin(asked, wait=True) is not None
    now = KEPT_SECONDS + 1
    assert await once.begin(asked, wait=True) is None


async def test_keys_are_forgotten_though_an_older_request_is_still_being_answered() -> None:
    now = 0.0
    once = Once(lambda: now)
    slow, quick = (
        Incoming(request_id="r", method="POST", path="", headers={}, body=b"1", deadline=9.0, key=key)
        for key in ("slow", "quick")
    )
    assert await once.begin(slow, wait=True) is None
    assert await once.begin(quick, wait=True) is None
    once.keep("quick", Reply(status=200, headers={}, body=b"kept"))
    now = KEPT_SECONDS + 1
    assert await once.begin(quick, wait=True) is None
    once.keep("slow", Reply(status=200, headers={}, body=b"late"))
    now = 2 * KEPT_SECONDS  # the ten minutes count from the answer
    assert await once.begin(slow, wait=True) is not None


def test_a_key_is_always_the_same_replicas() -> None:
    addresses = ("http://g0", "http://g1", "http://g2")
    of = [Peers(Replica(number=number, addresses=addresses)) for number in range(3)]
    for number in range(50):
        assert len({one.of_key(f"key {number}") for one in of}) == 1
    assert {of[0].of_key(f"key {number}") for number in range(50)} == {0, 1, 2}
