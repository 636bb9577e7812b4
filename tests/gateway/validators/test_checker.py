"""Checks as the data path asks them: slow and broken ones bounded, files fetched past the guard, plugins apart."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hedgerow_operator.adapters.providers.contract import Answer
from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.gateway.validators.checker import Checker
from hedgerow_operator.gateway.validators.fetching import Fetching
from tests.unit.hedging.validation.files import image, wav

LOOPBACK = ("127.0.0.0/8",)


def check(kind: str, **fields: Any) -> AnswerCheck:
    return AnswerCheck(type=kind, **fields)  # type: ignore[arg-type]


@asynccontextmanager
async def checker(seconds: float = 20.0, allowed: tuple[str, ...] = ()) -> AsyncIterator[Checker]:
    made = Checker(allowed, seconds)
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def files(**found: bytes) -> AsyncIterator[str]:
    """A server of these files; one called ``moved`` redirects to what it holds."""

    async def give(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name == "moved":
            raise web.HTTPFound(found["moved"].decode())
        return web.Response(body=found[name]) if name in found else web.Response(status=403)

    app = web.Application()
    app.router.add_get("/{name}", give)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
    finally:
        await runner.cleanup()


async def test_a_sound_is_checked_in_a_process_of_its_own() -> None:
    async with checker() as made:
        sound = made.validator_of(check("WAV"))
        assert sound.needs_body
        assert await sound.check(Answer(status=200, body=wav())) == ""
        assert await sound.check(Answer(status=200, body=wav()[:900])) == "the WAV is cut off"


async def test_a_pattern_that_never_ends_is_ended_and_the_gateway_goes_on_meanwhile() -> None:
    async with checker(seconds=2.0) as made:
        slow = made.validator_of(check("Regex", pattern="(a+)+$"))
        loop, late = asyncio.get_running_loop(), 0.0
        task = asyncio.create_task(slow.check(Answer(status=200, body=b"a" * 60 + b"!")))
        while not task.done():
            began = loop.time()
            await asyncio.sleep(0.01)
            late = max(late, loop.time() - began)
        assert await task == "it could not be told within 2 s whether the answer is valid"
        assert late < 1.0
        assert await slow.check(Answer(status=200, body=b"aaa")) == ""


async def test_a_process_that_was_killed_is_replaced() -> None:
    async with checker() as made:
        picture = made.validator_of(check("Image"))
        assert await picture.check(Answer(status=200, body=image())) == ""
        for worker in made.workers._all:
            worker._process.kill()
            await worker._process.wait()
        assert await picture.check(Answer(status=200, body=image())) == ""


async def test_many_at_once_wait_for_their_turn() -> None:
    async with checker() as made:
        picture = made.validator_of(check("Image"))
        found = await asyncio.gather(*(picture.check(Answer(status=200, body=image())) for _ in range(40)))
        assert found == [""] * 40
        assert len(made.workers._all) <= 2


async def test_small_answers_are_looked_at_on_the_spot() -> None:
    async with checker() as made:
        some = made.validator_of(check("NonEmpty", at="text"))
        assert await some.check(Answer(status=200, output={"text": "x"})) == ""
        assert await some.check(Answer(status=200, body=b'{"text": ""}')) == "what is at text is empty"
        assert not made.workers._all


async def test_the_content_type_needs_no_body_so_streams_can_be_asked_for_it() -> None:
    async with checker() as made:
        kind = made.validator_of(check("ContentType", content_types=("text/event-stream",)))
        assert not kind.needs_body
        assert await kind.check(Answer(status=200, headers={"content-type": "text/event-stream"})) == ""


async def test_a_file_is_fetched_and_checked_before_it_counts() -> None:
    async with files(good=image(), bad=b"<html>") as url, checker(allowed=LOOPBACK) as made:
        picture = made.validator_of(check("Image", at="url"))
        assert await picture.check(Answer(status=200, output={"url": f"{url}/good"})) == ""
        fault = await picture.check(Answer(status=200, output={"url": f"{url}/bad"}))
        assert fault.startswith("the image cannot be decoded")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1", "[::1]", "0x7f000001", "[::ffff:127.0.0.1]"]
)
async def test_an_answer_cannot_have_us_ask_within_our_own_network(host: str) -> None:
    async with checker() as made:
        picture = made.validator_of(check("Image", at="url"))
        fault = await picture.check(Answer(status=200, output={"url": f"http://{host}:1/x?secret=1"}))
        assert "cannot be asked for the file" in fault
        assert "secret" not in fault


async def test_a_redirect_does_not_get_past_the_guard() -> None:
    async with files(moved=b"http://169.254.169.254/latest?secret=1") as url, checker(allowed=LOOPBACK) as made:
        fault = await made.validator_of(check("Image")).check(Answer(status=200, output=f"{url}/moved?secret=1"))
        assert fault.startswith("169.254.169.254 cannot be asked for the file (169.254.169.254 is link-local")
        assert "secret" not in fault


async def test_a_file_that_cannot_be_had_is_no_answer_and_its_signed_url_is_never_told() -> None:
    async with files() as url, checker(allowed=LOOPBACK) as made:
        fault = await made.validator_of(check("Image")).check(Answer(status=200, output=f"{url}/gone?signature=s"))
        assert fault == "127.0.0.1 answered for the file by HTTP 403"


async def test_a_file_that_is_too_large_is_not_read_to_its_end() -> None:
    async with files(large=b"x" * (3 << 20)) as url, checker() as made:
        made.fetching = Fetching(LOOPBACK, most=1 << 20)
        fault = await made.validator_of(check("Image")).check(Answer(status=200, output=f"{url}/large"))
        assert fault == "the file at 127.0.0.1 is larger than 1 MiB"


_PLUGIN = """
import os

def polite(answer, options):
    print("what a plugin prints does no harm")
    if options.get("crash"):
        os._exit(3)
    words = str(answer.output)
    return "" if options["word"] in words else "the answer is not polite"
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with one plugin, and one that cannot be imported."""
    (tmp_path / "manners.py").write_text(_PLUGIN)
    information = tmp_path / "manners-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: manners\nVersion: 1.0\n")
    entries = "[hedgerow.validators]\npolite = manners:polite\nbroken = not_there:x\n"
    (information / "entry_points.txt").write_text(entries)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("plugins")
async def test_a_plugin_runs_apart_with_its_options() -> None:
    async with checker() as made:
        polite = made.validator_of(check("Plugin", plugin="polite", options={"word": "please"}))
        assert await polite.check(Answer(status=200, output={"text": "please wait"})) == ""
        assert await polite.check(Answer(status=200, output={"text": "wait"})) == "the answer is not polite"


@pytest.mark.usefixtures("plugins")
async def test_a_plugin_that_breaks_down_passes_nothing_and_breaks_nothing_else() -> None:
    async with checker() as made:
        answer = Answer(status=200, output="please")
        crash = made.validator_of(check("Plugin", plugin="polite", options={"crash": True}))
        assert await crash.check(answer) == "the process that checked the answer broke down over it"
        broken = made.validator_of(check("Plugin", plugin="broken"))
        assert await broken.check(answer) == "the plugin broken cannot be loaded (ModuleNotFoundError)"
        polite = made.validator_of(check("Plugin", plugin="polite", options={"word": "please"}))
        assert await polite.check(answer) == ""


@pytest.mark.usefixtures("plugins")
async def test_a_plugin_that_is_not_installed_is_named_with_those_that_are() -> None:
    async with checker() as made:
        with pytest.raises(ValueError, match=r"no entry point 'rude' in the group .*; installed: broken, polite"):
            made.validator_of(check("Plugin", plugin="rude"))


async def test_no_process_outlives_its_gateway() -> None:
    async with checker() as made:
        assert await made.validator_of(check("Image")).check(Answer(status=200, body=image())) == ""
        processes = [worker._process for worker in made.workers._all]
    assert processes
    assert all(process.returncode is not None for process in processes)
