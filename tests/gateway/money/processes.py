"""A gateway in a process of its own, over two imitated RunPods that outlive it."""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from tests.gateway.data_path.gateways import free_socket, get

_PROVIDER = """
apiVersion: hedgerow.dev/v1alpha1
kind: ServerlessProvider
metadata: {{name: {name}, namespace: team}}
spec:
  type: RunPod
  endpoint: ep
  credentialsSecretRef: {{name: key}}
  price: {{perSecondUSD: "0.001"}}
  runpod: {{apiURL: "{url}/v2"}}
"""
_ENDPOINT = """
apiVersion: hedgerow.dev/v1alpha1
kind: InferenceEndpoint
metadata: {{name: jobs, namespace: team}}
spec:
  protocol: Job
  providers: [{providers}]
  hedge: {{policy: Race, maxExtraLoadPercent: 100}}
  budget: {{hourlyUSD: "{hourly}", onExhausted: Reject}}
  deadlineSeconds: 60
"""


def written(folder: Path, urls: Mapping[str, str], hourly: str) -> Path:
    """The manifests. The worst case of an attempt is eight cents: 60 s, and 20 for its end."""
    config = folder / "config"
    config.mkdir(exist_ok=True)
    names = ", ".join(f"{{name: {name}, providerRef: {{name: {name}}}}}" for name in urls)
    parts = [_PROVIDER.format(name=name, url=url) for name, url in urls.items()]
    (config / "all.yaml").write_text("---".join([*parts, _ENDPOINT.format(providers=names, hourly=hourly)]))
    secret = folder / "secrets" / "key"
    secret.mkdir(parents=True, exist_ok=True)
    (secret / "apiKey").write_text("secret-key")
    return folder


class Running:
    """url: for clients. ops: for those who run it."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, ops: int) -> None:
        self.process = process
        self.url, self.ops = f"http://127.0.0.1:{port}/team/jobs", f"http://127.0.0.1:{ops}"

    async def kill(self) -> None:
        """-9."""
        self.process.kill()
        await self.process.wait()

    async def used(self) -> float:
        """US dollars that count against the hour's limit."""
        text = (await get(f"{self.ops}/metrics")).text
        place = 'endpoint="jobs",namespace="team"'
        return _figure(text, f'hedgerow_spent_usd{{{place},window="hour"}}') + _figure(
            text, f"hedgerow_held_usd{{{place}}}"
        )


def _figure(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, f"{name} is not in /metrics"
    return float(found[1])


@contextlib.asynccontextmanager
async def gateway(folder: Path, *, told: bool = False) -> AsyncIterator[Running]:
    """Ready to be asked. told: not waited for, and what it says can be read."""
    ports = []
    for _each in range(2):
        with free_socket() as one:
            ports.append(int(one.getsockname()[1]))
    options = {
        "--config": folder / "config",
        "--secrets": folder / "secrets",
        "--state": folder / "state",
        "--bind": f"127.0.0.1:{ports[0]}",
        "--ops-bind": f"127.0.0.1:{ports[1]}",
        "--allow-network": "127.0.0.0/8",
        "--grace": "1",
    }
    words = [str(word) for pair in options.items() for word in pair]
    program = "from hedgerow_operator.gateway.main import main; main()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, *words, env=dict(os.environ), stderr=subprocess.PIPE if told else None
    )
    running = Running(process, *ports)
    try:
        if not told:
            await _until_ready(running)
        yield running
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _until_ready(running: Running) -> None:
    async with asyncio.timeout(40):
        while True:
            assert running.process.returncode is None, "the gateway has ended"
            with contextlib.suppress(OSError):
                if (await get(f"{running.ops}/readyz")).status == 200:
                    return
            await asyncio.sleep(0.05)
