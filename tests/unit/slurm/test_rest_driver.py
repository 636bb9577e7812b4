"""The driver over HTTP: a newer slurmrestd than the one that the tests can start, and answers that are odd."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from hedgerow_operator.adapters.slurm.driver import Unsupported
from hedgerow_operator.adapters.slurm.rest.connection import Connection, check_url
from hedgerow_operator.adapters.slurm.rest.driver import RESTDriver
from hedgerow_operator.adapters.slurm.rest.token import KeptToken
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.reconcile.ports import Refused, Unreachable

SUBMISSION = Submission(name="x", comment="hedgerow:u:1", script="#!/bin/sh\n")
GOOD = "good"


class Restd:
    """Imitates slurmrestd v0.0.41, whose answers a test may replace by path."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.tokens = [GOOD]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        path = request.path.removeprefix("/slurm/v0.0.41/")
        self.requests.append((request.method, path, body))
        if path == "/openapi/v3":
            paths = {"/slurm/v0.0.41/jobs": {}, "/slurm/v0.0.41/node/{node_name}": {"post": {}}}
            return web.json_response({"paths": paths})
        if request.headers.get("X-SLURM-USER-TOKEN") != self.tokens[0]:
            return web.Response(status=401, text="Authentication failure")
        status, answer = self.answers.get(path, (200, {"errors": [], "jobs": []}))
        if isinstance(answer, dict):
            return web.json_response(answer, status=status)
        return web.Response(status=status, text=answer)


@pytest.fixture
async def restd() -> Restd:
    return Restd()


@pytest.fixture
async def driver(restd: Restd) -> AsyncIterator[RESTDriver]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", restd.handle)
    server = TestServer(application)
    await server.start_server()

    async def source() -> str:
        return restd.tokens[0]

    made = RESTDriver(Connection(str(server.make_url("")), "alice", KeptToken(source, lambda: 0.0)), "alice")
    yield made
    await made.close()
    await server.close()


async def test_a_job_is_submitted_in_the_words_of_the_newer_interface(restd: Restd, driver: RESTDriver) -> None:
    restd.answers["job/submit"] = (200, {"job_id": 7, "errors": []})
    assert await driver.submit(SUBMISSION) == "7"
    sent = restd.requests[-1][2]
    assert sent["script"] == "#!/bin/sh\n"
    assert sent["job"]["comment"] == "hedgerow:u:1"


async def test_nodes_are_drained_where_the_interface_can(restd: Restd, driver: RESTDriver) -> None:
    await driver.drain("n1", "hedgerow: Xid 79")
    assert restd.requests[-1] == ("POST", "node/n1", {"state": ["DRAIN"], "reason": "hedgerow: Xid 79"})
    await driver.resume("n1")
    assert restd.requests[-1] == ("POST", "node/n1", {"state": ["RESUME"]})


async def test_a_job_is_never_requeued_since_the_interface_cannot(driver: RESTDriver) -> None:
    with pytest.raises(Unsupported, match="slurmrestd has no requeue; write resubmit: NewJob"):
        await driver.requeue("7", [])


async def test_a_token_that_was_replaced_is_fetched_and_the_call_made_again(restd: Restd, driver: RESTDriver) -> None:
    await driver.jobs()
    restd.tokens[0] = "another"
    assert await driver.jobs() == []


async def test_a_token_that_stays_refused_is_said_without_showing_it(restd: Restd, driver: RESTDriver) -> None:
    restd.answers["jobs"] = (401, "Authentication failure")
    with pytest.raises(Unreachable) as raised:
        await driver.jobs()
    assert "does not accept the token of alice" in str(raised.value)
    assert GOOD not in str(raised.value)


ODD = {
    "nothing": (200, ""),
    "a list": (200, "[]"),
    "a page": (200, "<html>"),
    "a page with an error": (502, "<html>bad gateway"),
    "errors that are no list": (500, {"errors": "all"}),
    "errors that are words": (500, {"errors": ["no"]}),
    "jobs that are no list": (200, {"errors": [], "jobs": 3}),
    "a list beside an error": (200, {"errors": [{"error_number": -1, "error": "Unspecified error"}], "jobs": []}),
}


@pytest.mark.parametrize("answer", ODD.values(), ids=ODD.keys())
async def test_an_odd_answer_is_no_knowledge_and_no_crash(restd: Restd, driver: RESTDriver, answer: Any) -> None:
    restd.answers["jobs"] = answer
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1"):
        await driver.jobs()


async def test_an_entry_that_is_no_job_costs_no_other(restd: Restd, driver: RESTDriver) -> None:
    restd.answers["jobs"] = (200, {"errors": [], "jobs": [3, {"job_id": 7, "user_name": "alice"}]})
    assert [job.id for job in await driver.jobs()] == ["7"]


async def test_a_submission_whose_answer_is_lost_is_unknown_not_refused(restd: Restd, driver: RESTDriver) -> None:
    error = {"error_number": 1800, "error": "Unable to contact slurm controller"}
    restd.answers["job/submit"] = (500, {"errors": [error]})
    with pytest.raises(Unreachable, match="Unable to contact slurm controller"):
        await driver.submit(SUBMISSION)


async def test_a_submission_that_never_can_be_is_refused_in_slurms_words(restd: Restd, driver: RESTDriver) -> None:
    error = {"error_code": 2014, "error": "Requested node configuration is not available"}
    restd.answers["job/submit"] = (500, {"errors": [error]})
    with pytest.raises(Refused, match="Requested node configuration is not available"):
        await driver.submit(SUBMISSION)


async def test_one_that_is_held_comes_with_its_id(restd: Restd, driver: RESTDriver) -> None:
    error = {"error_code": 2042, "error": "Job is in held state"}
    restd.answers["job/submit"] = (200, {"errors": [error], "job_id": 9})
    assert await driver.submit(SUBMISSION) == "9"


async def test_nobody_listening_is_unreachable_at_once() -> None:
    driver = RESTDriver(Connection("http://127.0.0.1:1", None, None), "alice")
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1 cannot be reached"):
        await asyncio.wait_for(driver.jobs(), 60)
    await driver.close()


@pytest.mark.parametrize("url", ["", "slurm:6820", "ftp://slurm", "http://", "unix:"])
def test_an_address_that_is_none_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(Refused, match="write http://HOST:6820"):
        check_url(url)
