"""`hedgerow-gateway` as a process: started, asked, changed, told to end, killed."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from tests.gateway.data_path.gateways import free_socket, get, post

PROVIDER = """
apiVersion: hedgerow.dev/v1alpha1
kind: ServerlessProvider
metadata: {name: sim, namespace: team}
spec: {type: Simulated, simulated: {seed: 1, coldPercent: 0, timeScale: 20}}
"""
ENDPOINT = """
apiVersion: hedgerow.dev/v1alpha1
kind: InferenceEndpoint
metadata: {name: NAME, namespace: team}
spec:
  protocol: Job
  providers: [{name: sim, providerRef: {name: sim}}]
"""


def free_port() -> int:
    with free_socket() as one:
        return int(one.getsockname()[1])


class Process:
    def __init__(self, process: asyncio.subprocess.Process, port: int, ops: int) -> None:
        self.process = process
        self.url, self.ops = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{ops}"

    async def until_answers(self, url: str, status: int = 200) -> None:
        for _try in range(400):
            with contextlib.suppress(OSError):
                if (await get(url)).status == status:
                    return
            assert self.process.returncode is None, "it has ended"
            await asyncio.sleep(0.05)
        raise AssertionError(f"{url} did not answer with {status}")


@contextlib.asynccontextmanager
async def gateway(folder: Path, *more: str) -> AsyncIterator[Process]:
    port, ops = free_port(), free_port()
    command = [sys.executable, "-c", "from hedgerow_operator.gateway.main import main; main()"]
    arguments = ["--config", str(folder), "--bind", f"127.0.0.1:{port}", "--ops-bind", f"127.0.0.1:{ops}", *more]
    started = await asyncio.create_subprocess_exec(
        *command, *arguments, stderr=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    try:
        yield Process(started, port, ops)
    finally:
        if started.returncode is None:
            started.kill()
        await started.communicate()


def written(folder: Path, *names: str) -> Path:
    text = "---".join([PROVIDER, *(ENDPOINT.replace("NAME", name) for name in names)])
    (folder / "endpoints.yaml").write_text(text)
    return folder


async def test_it_serves_what_a_folder_says_and_follows_it(tmp_path: Path) -> None:
    async with gateway(written(tmp_path, "one")) as served:
        await served.until_answers(f"{served.ops}/readyz")
        await served.until_answers(f"{served.url}/team/one/health")
        got = await post(f"{served.url}/team/one/runsync", {"input": {"prompt": "x"}})
        assert got.json()["status"] == "COMPLETED"
        assert "hedgerow_requests_total" in (await get(f"{served.ops}/metrics")).text
        assert (await get(f"{served.ops}/receipts")).json() == {"receipts": []}
        assert (await get(f"{served.url}/metrics")).status == 404
        written(tmp_path, "two")
        await served.until_answers(f"{served.url}/team/two/health")
        assert (await get(f"{served.url}/team/one/health")).status == 404


async def test_told_to_end_it_finishes_what_runs_and_is_not_ready(tmp_path: Path) -> None:
    async with gateway(written(tmp_path, "one"), "--grace", "20", "--leave", "0.5") as served:
        await served.until_answers(f"{served.url}/team/one/health")
        asking = asyncio.ensure_future(post(f"{served.url}/team/one/runsync", {"input": {}}))
        await asyncio.sleep(0)
        served.process.send_signal(signal.SIGTERM)
        await served.until_answers(f"{served.ops}/readyz", 503)
        assert (await asking).json()["status"] == "COMPLETED"
        async with asyncio.timeout(60):
            assert await served.process.wait() == 0


async def test_a_mistake_on_the_command_line_is_a_sentence(tmp_path: Path) -> None:
    async with gateway(tmp_path, "--bind", "here") as served:
        _out, told = await served.process.communicate()
    assert b"write HOST:PORT" in told
    assert b"Traceback" not in told
