"""The Job protocol as RunPod's clients use it."""
# ruff: noqa: SIM117

import asyncio
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge
from hedgerow_operator.gateway.journal_entries import KeptJob
from hedgerow_operator.gateway.peers import Replica
from hedgerow_operator.gateway.settings import ProviderUse, Speaks
from hedgerow_operator.gateway.unbounded import unbounded
from tests.gateway.data_path.gateways import free_socket, get, post, serving, until
from tests.gateway.data_path.scripted import Scripted, answers, fails, gives, hangs

JOB = {"speaks": Speaks.JOB}


async def ended(url: str, job_id: str) -> Any:
    for _look in range(500):
        shown = (await get(f"{url}/status/{job_id}")).json()
        if shown["status"] not in ("IN_QUEUE", "IN_PROGRESS"):
            return shown
        await asyncio.sleep(0.01)
    raise AssertionError("the job did not end")


async def test_a_job_is_taken_at_once_and_its_result_can_be_asked_for() -> None:
    a = Scripted("a", gives({"text": "hi"}, after=0.05))
    async with serving(a, **JOB) as served:
        got = await post(f"{served.url}/run", {"input": {"prompt": "x"}})
        assert got.json()["status"] == "IN_QUEUE"
        job_id = got.json()["id"]
        shown = await ended(served.url, job_id)
    assert shown == {
        "id": job_id, "status": "COMPLETED", "output": {"text": "hi"}, "delayTime": 250, "executionTime": 1500,
    }  # fmt: skip
    assert a.calls[0].body == b'{"prompt":"x"}'


async def test_runsync_answers_with_the_result() -> None:
    async with serving(Scripted("a", gives(["x"])), **JOB) as served:
        got = await post(f"{served.url}/runsync", {"input": 1})
    assert (got.json()["status"], got.json()["output"]) == ("COMPLETED", ["x"])
    assert got.headers["X-Hedgerow-Provider"] == "a"


async def test_runsync_that_waits_too_long_answers_with_the_state() -> None:
    async with serving(Scripted("a", hangs()), **JOB) as served:
        got = await post(f"{served.url}/runsync?wait=1", {"input": 1})
    assert got.json()["status"] == "IN_PROGRESS"


async def test_a_job_is_hedged_while_nobody_waits() -> None:
    a, b = Scripted("a", hangs(queued=True)), Scripted("b", gives("b's"))
    async with serving(a, b, policy=Fixed(after_seconds=0.02), **JOB) as served:
        got = await post(f"{served.url}/run", {"input": 1})
        assert (await ended(served.url, got.json()["id"]))["output"] == "b's"
        await until(lambda: a.cancelled == ["a-1"])


async def test_a_job_that_is_cancelled_ends_its_attempts() -> None:
    a = Scripted("a", hangs())
    async with serving(a, **JOB) as served:
        job_id = (await post(f"{served.url}/run", {"input": 1})).json()["id"]
        await until(lambda: len(a.calls) == 1)
        got = await post(f"{served.url}/cancel/{job_id}")
        assert got.json() == {"id": job_id, "status": "CANCELLED"}
        await until(lambda: a.cancelled == ["a-1"])
        assert (await ended(served.url, job_id))["status"] == "CANCELLED"


async def test_a_failed_job_can_be_retried() -> None:
    async with serving(Scripted("a", fails("it broke"), gives("well")), policy=NoHedge(), **JOB) as served:
        job_id = (await post(f"{served.url}/run", {"input": 1})).json()["id"]
        shown = await ended(served.url, job_id)
        assert (shown["status"], "it broke" in shown["error"]) == ("FAILED", True)
        assert (await post(f"{served.url}/retry/{job_id}")).json()["status"] == "IN_QUEUE"
        assert (await ended(served.url, job_id))["output"] == "well"
        assert (await post(f"{served.url}/retry/{job_id}")).status == 400


class Book:
    """A JobBook: what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def left(self) -> tuple[KeptJob, ...]:
        return ()

    async def begun(self, job_id: str, seconds: float, webhook: str) -> None:
        self.told.append("begun")

    def ended(self, job_id: str, state: str, error: str, seconds: float) -> None:
        self.told.append(state)

    def forgotten(self, job_id: str) -> None:
        self.told.append("forgotten")


async def test_one_that_is_retried_is_written_down_as_one_that_runs() -> None:
    a, book = Scripted("a", fails("it broke"), hangs()), Book()
    parts = replace(unbounded([a], ()), jobs=book)
    async with serving(a, parts=parts, policy=NoHedge(), **JOB) as served:
        job_id = (await post(f"{served.url}/run", {"input": 1})).json()["id"]
        await ended(served.url, job_id)
        assert (await post(f"{served.url}/retry/{job_id}")).status == 200
        assert book.told == ["begun", "FAILED", "begun"]


async def test_the_stream_of_a_job_is_its_output_once() -> None:
    async with serving(Scripted("a", gives("all")), **JOB) as served:
        job_id = (await post(f"{served.url}/runsync", {"input": 1})).json()["id"]
        first = (await get(f"{served.url}/stream/{job_id}")).json()
        again = (await get(f"{served.url}/stream/{job_id}")).json()
    assert first == {"status": "COMPLETED", "stream": [{"output": "all"}]}
    assert again == {"status": "COMPLETED", "stream": []}


async def test_purging_ends_what_is_queued_and_health_counts_the_rest() -> None:
    a = Scripted("a", gives(1), hangs(), hangs(queued=True))
    async with serving(a, **JOB) as served:
        for kind in ("runsync", "run", "run"):
            await post(f"{served.url}/{kind}", {"input": 1})
        await until(lambda: len(a.calls) == 3)
        assert (await post(f"{served.url}/purge-queue")).json() == {"removed": 1, "status": "completed"}
        health = (await get(f"{served.url}/health")).json()
    assert health["jobs"] == {"completed": 1, "failed": 1, "inProgress": 1, "inQueue": 0, "retried": 0}
    assert health["workers"]["running"] == 1


MISTAKES = {
    "no input": ({"prompt": "x"}, "input"),
    "an input in a list": ([1], "JSON object"),
    "a webhook that is no address": ({"input": 1, "webhook": "file:///etc/passwd"}, "webhook"),
    "storage of one provider": ({"input": 1, "s3Config": {"bucketName": "b"}}, "s3Config"),
    "a timeout that is none": ({"input": 1, "policy": {"executionTimeout": -1}}, "executionTimeout"),
}


@pytest.mark.parametrize("case", MISTAKES)
async def test_a_mistake_is_told_in_a_sentence(case: str) -> None:
    body, told = MISTAKES[case]
    async with serving(Scripted("a", gives(1)), **JOB) as served:
        got = await post(f"{served.url}/run", body)
    assert got.status == 400
    assert told in got.json()["error"]


@pytest.mark.parametrize("path", ["status/nobody", "stream/0-1", "jump", "run/x", ""])
async def test_what_is_not_there_is_not_found(path: str) -> None:
    async with serving(Scripted("a", gives(1)), **JOB) as served:
        assert (await get(f"{served.url}/{path}")).status == 404


async def test_the_webhook_is_called_once_for_the_winner() -> None:
    told: list[Any] = []

    async def hook(request: web.BaseRequest) -> web.Response:
        told.append(await request.json())
        return web.Response()

    runner = web.ServerRunner(web.Server(hook))
    await runner.setup()
    listener = free_socket()
    await web.SockSite(runner, listener).start()
    a, b = Scripted("a", gives("slow", after=0.15)), Scripted("b", gives("quick"))
    async with serving(a, b, policy=Fixed(after_seconds=0.02), **JOB) as served:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/done"
        got = await post(f"{served.url}/run", {"input": 1, "webhook": url})
        await until(lambda: bool(told))
        await asyncio.sleep(0.2)
    await runner.cleanup()
    assert [(one["id"], one["output"]) for one in told] == [(got.json()["id"], "quick")]


async def test_a_job_is_asked_of_the_replica_that_has_it() -> None:
    listeners = [free_socket(), free_socket()]
    addresses = tuple(f"http://127.0.0.1:{one.getsockname()[1]}" for one in listeners)
    a, b = Scripted("a", gives("of 0")), Scripted("a", gives("of 1"))
    first, second = Replica(number=0, addresses=addresses), Replica(number=1, addresses=addresses)
    async with serving(a, own=first, listener=listeners[0], **JOB) as one:
        async with serving(b, own=second, listener=listeners[1], **JOB) as other:
            job_id = (await post(f"{one.url}/runsync", {"input": 1})).json()["id"]
            assert job_id.startswith("0-")
            assert (await get(f"{other.url}/status/{job_id}")).json()["output"] == "of 0"


async def test_an_http_answer_is_a_jobs_output() -> None:
    use = ProviderUse(name="a", path="generate", request="{q: prompt}", response="result")
    a = Scripted("a", answers(b'{"result":[1,2]}'))
    async with serving(a, providers=(use,), **JOB) as served:
        got = await post(f"{served.url}/runsync", {"input": {"prompt": "x"}})
    assert got.json()["output"] == [1, 2]
    assert (a.calls[0].path, a.calls[0].body) == ("generate", b'{"q":"x"}')
