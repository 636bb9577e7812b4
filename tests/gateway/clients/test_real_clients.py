"""The clients that people use, pointed at the gateway."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.adapters.providers.contract import Call, ProviderError
from hedgerow_operator.core.hedging.fixed import Fixed
from hedgerow_operator.gateway.settings import ApiKeys, Speaks
from tests.gateway.clients.environment import python
from tests.gateway.data_path.gateways import serving
from tests.gateway.data_path.scripted import Course, Scripted, ScriptedAttempt, answers, fails, gives, hangs, streams

HERE = Path(__file__).parent
KEYS = ApiKeys({"alice": b"sk-alice"})


def event(**choice: object) -> bytes:
    found = {
        "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": None, **choice}],
    }  # fmt: skip
    return b"data: " + json.dumps(found).encode() + b"\n\n"


WHOLE = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
}  # fmt: skip
ROLE, HEL, LO = (event(delta=delta) for delta in ({"role": "assistant"}, {"content": "hel"}, {"content": "lo"}))
END = event(delta={}, finish_reason="stop") + b"data: [DONE]\n\n"


class ByBody(Scripted):
    """Does what the request's body asks for."""

    async def submit(self, call: Call) -> ScriptedAttempt:
        self.calls.append(call)
        return ScriptedAttempt(self, len(self.calls), self._course(json.loads(call.body)))

    def _course(self, body: dict[str, Any]) -> Course:
        if "n" in body:
            return gives({"n": body["n"]}, after=0.05)
        if body.get("slow"):
            return hangs()
        if body["model"] == "broken":
            return fails("it broke")
        if body["model"] == "cut":
            return streams(ROLE, HEL, ProviderError("the connection broke"))
        return streams(ROLE, HEL, LO, END) if body.get("stream") else answers(json.dumps(WHOLE).encode())


class Late(ByBody):
    """Never answers, save that it fails at once where that is asked for."""

    def _course(self, body: dict[str, Any]) -> Course:
        return super()._course(body) if body["model"] == "broken" else hangs()


async def said(script: str, *arguments: str) -> Any:
    interpreter = await asyncio.to_thread(python)
    process = await asyncio.create_subprocess_exec(
        interpreter, HERE / script, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, told = await process.communicate()
    assert process.returncode == 0, told.decode()[-2000:]
    return json.loads(out.splitlines()[-1])


@pytest.mark.timeout(600)
async def test_the_openai_package_reads_answers_streams_and_errors() -> None:
    providers = Late("late", hangs()), ByBody("a", fails())
    async with serving(
        *providers, keys=KEYS, speaks=Speaks.OPENAI, policy=Fixed(0.05), deadline_seconds=60.0
    ) as served:
        found = await said("openai_client.py", f"{served.url}/v1", "sk-alice")
    assert found == {
        "whole": "hi",
        "provider": "a",
        "streamed": "hello",
        "cut": "APIError: the connection broke",
        "broken": 502,
        "wrong": "invalid_api_key",
    }


@pytest.mark.timeout(600)
async def test_the_runpod_package_runs_waits_streams_and_cancels() -> None:
    a = ByBody("a", fails())
    async with serving(a, keys=KEYS, speaks=Speaks.JOB) as served:
        found = await said("runpod_client.py", f"{served.root}/team", "model", "sk-alice")
    assert found == {
        "sync": {"n": 1},
        "output": {"n": 2},
        "status": "COMPLETED",
        "stream": [{"n": 3}],
        "cancelled": "CANCELLED",
        "health": ["jobs", "workers"],
        "purged": "completed",
    }
