"""Requests that are passed on: streams, their breaks, hang-ups, headers, uploads, and answers that are the client's."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Call, ProviderError
from hedgerow_operator.adapters.providers.kubernetes import Kubernetes
from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.core.hedging.receipts import Evidence
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.adapters.watching import ended, rig_of, until
from tests.gateway.conformance import faults
from tests.gateway.rigs import SCALE, Rig

_STREAMED = b'{"stream": true, "messages": [{"role": "user", "content": "hello"}]}'


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """An OpenAI server."""
    async with rig_of("an OpenAI server") as made:
        yield made


@pytest.fixture
def stream(rig: Rig) -> Call:
    """The call that asks for events."""
    return replace(rig.call, stream=True, body=_STREAMED)


async def _chunks(rig: Rig, call: Call) -> AsyncIterator[bytes]:
    attempt = await rig.provider.submit(call)
    async for update in attempt.updates():
        assert update.state is AttemptState.VALID, update
        assert update.answer is not None
        assert update.answer.chunks is not None
        async for chunk in update.answer.chunks:
            yield chunk


async def _read(chunks: AsyncIterator[bytes], seen: list[bytes]) -> None:
    async for chunk in chunks:
        seen.append(chunk)


async def test_a_stream_comes_piece_by_piece_and_to_its_end(rig: Rig, stream: Call) -> None:
    whole = b"".join([chunk async for chunk in _chunks(rig, stream)])
    assert whole.count(b"data: ") == 4
    assert whole.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(("fault", "sentence"), [("dies", "broke"), ("silent", "nothing came")])
async def test_a_stream_that_ends_or_stalls_in_the_middle_raises_a_provider_error(
    rig: Rig, stream: Call, fault: str, sentence: str
) -> None:
    rig.world.misbehave("chunks", getattr(faults, fault))
    seen: list[bytes] = []
    with pytest.raises(ProviderError, match=sentence):
        await _read(_chunks(rig, stream), seen)
    assert b"forty" in b"".join(seen)


async def test_hanging_up_in_the_middle_of_the_work_ends_it(rig: Rig) -> None:
    rig.world.run = 400.0
    attempt = await rig.provider.submit(rig.call)
    await until(lambda: bool(rig.world.jobs))
    receipt = await attempt.cancel()
    assert (receipt.evidence, receipt.leaked) == (Evidence.CHANNEL_CLOSED, False)
    await until(lambda: rig.world.hung_up == 1)


async def test_a_stream_that_nobody_reads_on_is_closed_by_its_cancel(rig: Rig, stream: Call) -> None:
    attempt = await rig.provider.submit(stream)
    async for update in attempt.updates():
        assert update.answer is not None
        receipt = await attempt.cancel()
    assert receipt.evidence is Evidence.CHANNEL_CLOSED


async def test_a_client_s_own_mistake_is_the_answer_and_no_failure(rig: Rig) -> None:
    update = (await ended(await rig.provider.submit(replace(rig.call, body=b"{}"))))[-1]
    assert update.state is AttemptState.VALID
    assert update.answer is not None
    assert update.answer.status == 400


async def test_a_failure_keeps_what_the_provider_answered(rig: Rig) -> None:
    rig.world.fails = True
    update = (await ended(await rig.provider.submit(rig.call)))[-1]
    assert update.state is AttemptState.FAILED
    assert update.answer is not None
    assert update.answer.status == 500
    assert b"engine died" in update.answer.body


async def test_a_model_that_this_provider_does_not_know_may_be_asked_for_elsewhere(rig: Rig) -> None:
    update = (await ended(await rig.provider.submit(replace(rig.call, path="/v1/nothing"))))[-1]
    assert update.state is AttemptState.FAILED
    assert update.error is not None
    assert update.error.safe_to_retry


async def test_our_credentials_replace_whatever_the_request_brings(rig: Rig) -> None:
    headers = {"authorization": "Bearer client", "X-Mine": "kept", "Connection": "close", "Host": "elsewhere"}
    update = (await ended(await rig.provider.submit(replace(rig.call, headers=headers))))[-1]
    assert update.state is AttemptState.VALID
    sent = rig.world.requests[-1].headers
    assert sent.getall("Authorization") == ["Bearer secret-key"]
    assert sent["X-Mine"] == "kept"
    assert sent["Host"].startswith("127.0.0.1")


async def test_a_body_too_large_to_keep_is_passed_on_as_it_comes(rig: Rig) -> None:
    async def rest() -> AsyncIterator[bytes]:
        for piece in (b'"content": "', b"x" * 100_000, b'"}]}'):
            yield piece
            await asyncio.sleep(0)

    call = replace(rig.call, body=b'{"messages": [{"role": "user", ', upload=rest())
    update = (await ended(await rig.provider.submit(call)))[-1]
    assert update.state is AttemptState.VALID
    assert len(rig.world.bodies[-1][1]["messages"][0]["content"]) == 100_000


async def test_a_redirect_is_not_followed(rig: Rig) -> None:
    rig.world.misbehave("submit", faults.answer(307, "", Location="http://169.254.169.254/"))
    update = (await ended(await rig.provider.submit(rig.call)))[-1]
    assert update.error is not None
    assert "redirect" in str(update.error)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://localhost:9", "http://[::1]:9", "http://0.0.0.0:9"])
async def test_this_machine_is_not_called_unless_it_is_allowed(url: str) -> None:
    await _is_forbidden(PassThrough(Setup(name="tenant"), url), "this machine")


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://[::ffff:169.254.169.254]", "http://[fd00:ec2::254]"])
async def test_metadata_services_are_not_called_however_their_address_is_written(url: str) -> None:
    await _is_forbidden(PassThrough(Setup(name="tenant"), url), "metadata")


@pytest.mark.parametrize("url", ["http://2852039166", "http://0177.1", "http://0xa9fea9fe", "http://127.1"])
async def test_an_address_that_is_written_to_deceive_is_not_called(url: str) -> None:
    provider = PassThrough(Setup(name="tenant"), url)
    update = (await ended(await provider.submit(Call())))[-1]
    await provider.close()
    assert update.error is not None
    assert update.error.safe_to_retry


async def _is_forbidden(provider: PassThrough, kind: str) -> None:
    try:
        update = (await ended(await provider.submit(Call())))[-1]
    finally:
        await provider.close()
    assert update.error is not None
    assert kind in str(update.error)
    assert update.error.safe_to_retry


async def test_a_service_is_asked_by_its_name_in_the_cluster() -> None:
    provider = Kubernetes(Setup(name="own", scale=SCALE), "llm.models", port=8000)
    assert provider.url == "http://llm.models.svc:8000"
    assert Kubernetes(Setup(name="own"), "llm", namespace="team").url == "http://llm.team.svc:80"
    assert not await provider.set_warm(1)
    await provider.close()
