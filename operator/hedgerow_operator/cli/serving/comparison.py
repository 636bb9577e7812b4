"""The second part of `hedgerow demo`: the same requests with and without hedging, through a real gateway."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import click
import msgspec

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import read_text
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.inference_spec import HedgeSpec
from hedgerow_operator.api.manifests import load_manifests
from hedgerow_operator.api.serverless_provider import ServerlessProvider
from hedgerow_operator.cli.serving.comparison_text import Arm, introduction, table
from hedgerow_operator.cli.serving.gateway_thread import GatewayThread
from hedgerow_operator.cli.serving.wanted import Wanted

UNHEDGED = "-unhedged"
# Without hedging nothing is learned from the request before, so that several may run at once.
_AT_ONCE = 6
_LONGEST_SECONDS = 30.0
_SLO_SECONDS = 60.0


def compare(manifest: Path, state: Path) -> None:
    """Print both. Raises click.ClickException."""
    found = load_manifests(str(manifest))
    if found.errors:
        raise click.ClickException(str(found.errors[0]))
    endpoint, providers = found.endpoints[0].endpoint, tuple(one.provider for one in found.providers)
    scale, requests = _scale_and_rounds(providers)
    click.echo(introduction(requests, len(providers), scale))
    wanted = Wanted(endpoints=(endpoint, unhedged(endpoint)), providers=providers)
    paths = StatePaths(state)
    gateway = GatewayThread(wanted, paths, lambda sentence: None)
    try:
        gateway.start()
    except StateError as error:
        raise click.ClickException(str(error)) from None
    try:
        address = (read_text(paths.gateway_address) or "").strip()
        plain, hedged = asyncio.run(_both(f"{address}{_path(endpoint)}", requests))
    finally:
        gateway.stop()
    attempts = {one.metadata.name: sum(each.attempts for each in one.status.providers) for one in gateway.endpoints}
    name = endpoint.metadata.name
    arms = (
        Arm("without hedging", [one * scale for one in plain], attempts[name + UNHEDGED]),
        Arm(f"hedged ({endpoint.spec.hedge.policy})", [one * scale for one in hedged], attempts[name]),
    )
    click.echo(table(arms, _SLO_SECONDS))
    click.echo(f"To serve it until Ctrl-C: hedgerow local -f {manifest}")


def unhedged(endpoint: InferenceEndpoint) -> InferenceEndpoint:
    """The same endpoint under another name, where each request goes to the first provider."""
    metadata = msgspec.structs.replace(endpoint.metadata, name=endpoint.metadata.name + UNHEDGED)
    spec = msgspec.structs.replace(endpoint.spec, hedge=HedgeSpec(policy="None"))
    return msgspec.structs.replace(endpoint, metadata=metadata, spec=spec)


async def _both(url: str, requests: int) -> tuple[list[float], list[float]]:
    """Seconds of each request, without and with hedging: at the same time, each request of the same round."""
    timeout = aiohttp.ClientTimeout(total=_LONGEST_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        rounds = iter(range(1, requests + 1))
        plain = (_asked_in_turn(session, url + UNHEDGED, rounds) for _ in range(_AT_ONCE))
        each, hedged = await asyncio.gather(
            asyncio.gather(*plain), _asked_in_turn(session, url, iter(range(1, requests + 1)))
        )
    return [one for some in each for one in some], hedged


async def _asked_in_turn(session: aiohttp.ClientSession, url: str, rounds: Iterator[int]) -> list[float]:
    took = []
    for number in rounds:
        began = time.perf_counter()
        async with session.post(f"{url}/runsync", json={"input": {"round": number}}) as answer:
            said = await answer.json()
        if said.get("status") != "COMPLETED":
            raise click.ClickException(f"the gateway answered request {number} by {said}")
        took.append(time.perf_counter() - began)
    return took


def _path(endpoint: InferenceEndpoint) -> str:
    return f"/{endpoint.metadata.namespace}/{endpoint.metadata.name}"


def _scale_and_rounds(providers: tuple[ServerlessProvider, ...]) -> tuple[int, int]:
    simulated = [one.spec.simulated for one in providers if one.spec.simulated is not None]
    return simulated[0].time_scale, min(len(one.courses) for one in simulated)
