"""The programs that users put before their models, as the adapters meet them."""

import asyncio
import os
import runpy
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from hedgerow_operator.adapters.providers.contract import Call, ProviderError
from hedgerow_operator.adapters.providers.lambda_pool.machines import Pool
from hedgerow_operator.adapters.providers.lambda_pool.provider import LambdaPool
from hedgerow_operator.core.hedging.receipts import Evidence, Scope
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.conftest import ROOT
from tests.gateway.adapters.watching import ended
from tests.gateway.conformance.lambda_cloud import LambdaApi
from tests.gateway.conformance.serving import serving
from tests.gateway.conformance.world import World
from tests.gateway.rigs import setup_of

_EXAMPLES = ROOT / "examples" / "providers"
_MODEL = """
def generate(given, cancelled):
    if given.get("fail"):
        raise RuntimeError("CUDA out of memory")
    cancelled.wait(given.get("seconds", 0))
    return {"echo": given}
"""


@asynccontextmanager
async def machine(folder: Path, token: str = "agent-secret") -> AsyncIterator[LambdaPool]:
    """A pool of one machine on which the agent really runs."""
    (folder / "model.py").write_text(_MODEL)
    agent = await asyncio.create_subprocess_exec(
        sys.executable,
        str(_EXAMPLES / "worker_server.py"),
        *("model:generate", "--host", "127.0.0.1", "--port", "0"),
        cwd=folder,
        env={**os.environ, "AGENT_TOKEN": "agent-secret"},
        stdout=asyncio.subprocess.PIPE,
    )
    assert agent.stdout is not None
    try:
        async with asyncio.timeout(60):
            port = int((await agent.stdout.readline()).split()[-1])
        cloud = LambdaApi(World(0.1))
        async with serving(cloud) as url:
            cloud.machines[cloud.add("pool")] = ("pool", 0.0)
            pool = Pool(name="pool", instance_type="t", region="r", ssh_key="k")
            setup = msgspec.structs.replace(setup_of("lambda", apiKey="secret-key", agentToken=token), scale=0.1)
            provider = LambdaPool(setup, pool, port=port, api=url)
            yield provider
            await provider.close()
    finally:
        agent.kill()
        await agent.wait()


async def test_the_worker_server_does_a_job_and_answers_by_its_output(tmp_path: Path) -> None:
    async with machine(tmp_path) as provider:
        update = (await ended(await provider.submit(Call(body=b'{"prompt": "hello"}'))))[-1]
        assert update.answer is not None
        assert update.answer.output == {"echo": {"prompt": "hello"}}


async def test_a_function_that_raises_is_a_failure_in_its_words(tmp_path: Path) -> None:
    async with machine(tmp_path) as provider:
        update = (await ended(await provider.submit(Call(body=b'{"fail": true}'))))[-1]
        assert update.state is AttemptState.FAILED
        assert "CUDA out of memory" in str(update.error)


async def test_a_job_that_waits_and_one_that_looks_are_both_seen_to_end(tmp_path: Path) -> None:
    async with machine(tmp_path) as provider:
        first = await provider.submit(Call(body=b'{"seconds": 60}'))
        async with asyncio.timeout(60):
            async for update in first.updates():
                if update.state is AttemptState.RUNNING:
                    break
        second = await provider.submit(Call(body=b'{"seconds": 60}'))
        waiting, running = await second.cancel(), await first.cancel()
        assert (waiting.evidence, waiting.leaked) == (Evidence.TERMINAL, False)
        assert (running.evidence, running.leaked, running.scope) == (Evidence.TERMINAL, False, Scope.REQUEST)
        assert running.terminal_status == "cancelled"


async def test_a_wrong_agent_token_is_named_as_such(tmp_path: Path) -> None:
    async with machine(tmp_path, token="another") as provider:
        with pytest.raises(ProviderError, match="agent token") as caught:
            await provider.submit(Call(body=b"{}"))
        assert caught.value.credentials


def test_cerebrium_s_worker_tells_that_it_has_begun_before_the_result() -> None:
    run = runpy.run_path(str(_EXAMPLES / "cerebrium_worker.py"))["run"]
    events = [msgspec.json.decode(event) for event in run("hello")]
    assert [event["hedgerow"] for event in events] == ["started", "result"]
    assert events[1]["result"] == "an answer to hello"
