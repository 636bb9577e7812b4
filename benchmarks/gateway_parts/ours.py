"""Hedgerow's gateway over servers of OpenAI's protocol, as `hedgerow-gateway` runs it: with a budget and a journal.

Run: python -m gateway_parts.ours POLICY URL…. Its port is the first line that it prints.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from pathlib import Path

from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.api.inference_spec import Budget
from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge
from hedgerow_operator.gateway.books import Books
from hedgerow_operator.gateway.gateway import Gateway
from hedgerow_operator.gateway.main import new_loop
from hedgerow_operator.gateway.ports import Parts
from hedgerow_operator.gateway.server import Listening
from hedgerow_operator.gateway.settings import EndpointSettings, ProviderUse, Speaks
from hedgerow_operator.server.listening import prepare

HEDGE_AFTER = 0.05
_POLICIES = {"none": NoHedge(), "fixed": Fixed(after_seconds=HEDGE_AFTER)}


async def _serve(policy: str, urls: list[str]) -> None:
    names = [f"p{number}" for number in range(len(urls))]
    providers = tuple(
        PassThrough(Setup(name=name, usd_per_second=0.0003, allowed_networks=("127.0.0.0/8",)), url)
        for name, url in zip(names, urls, strict=True)
    )
    gateway = Gateway()
    settings = EndpointSettings(
        namespace="bench", name="model", speaks=Speaks.OPENAI, policy=_POLICIES[policy], max_extra_load=1.0,
        providers=tuple(ProviderUse(name=name) for name in names),
    )
    with tempfile.TemporaryDirectory() as folder:
        books = Books(Path(folder) / "gateway.sqlite")
        books.open()
        budget = Budget(hourly_usd="1000", daily_usd="10000")
        money, losers, protection = books.parts("bench/model", providers, budget)
        gateway.serve(settings, Parts(providers=providers, money=money, losers=losers, protection=protection))
        await _listen(gateway)


async def _listen(gateway: Gateway) -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    await Listening(gateway).start([listener])
    print(listener.getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    prepare()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_serve(sys.argv[1], sys.argv[2:]))
