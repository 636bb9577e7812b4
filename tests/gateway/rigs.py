"""Every adapter with the provider that it is for, imitated on loopback."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec
from msgspec import Struct

from hedgerow_operator.adapters.providers.cerebrium.provider import Cerebrium
from hedgerow_operator.adapters.providers.contract import Call, Provider
from hedgerow_operator.adapters.providers.declared.declaration import Declaration, DeclaredCall
from hedgerow_operator.adapters.providers.declared.provider import DeclaredHTTP
from hedgerow_operator.adapters.providers.lambda_pool.machines import Pool
from hedgerow_operator.adapters.providers.lambda_pool.provider import LambdaPool
from hedgerow_operator.adapters.providers.modal.web import Modal
from hedgerow_operator.adapters.providers.modal.wrapped import ModalWrapped
from hedgerow_operator.adapters.providers.passthrough import PassThrough
from hedgerow_operator.adapters.providers.plugin import Plugin
from hedgerow_operator.adapters.providers.runpod.balanced import RunPodBalanced
from hedgerow_operator.adapters.providers.runpod.queue import RunPod
from hedgerow_operator.adapters.providers.setup import Secrets, Setup
from hedgerow_operator.adapters.providers.vast.provider import Vast
from hedgerow_operator.core.hedging.receipts import Evidence
from hedgerow_operator.core.hedging.seen import AttemptState
from tests.gateway.conformance.cerebrium import CerebriumApi
from tests.gateway.conformance.channel import ModalApi, OpenAIApi
from tests.gateway.conformance.lambda_cloud import LambdaApi
from tests.gateway.conformance.plugin_class import plugin_over
from tests.gateway.conformance.queue_api import QueueApi
from tests.gateway.conformance.runpod import RunPodApi
from tests.gateway.conformance.serving import Api, serving
from tests.gateway.conformance.vast import VastApi
from tests.gateway.conformance.world import World
from tests.gateway.conformance.wrapper import WrapperApi

# A second of a provider is 20 ms here: its quickest answer takes a tenth of a second.
SCALE = 0.02
CALL_SECONDS = 30.0
_CHAT = b'{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'


JOB = Call(body=b'{"prompt": "hello"}')


class Traits(Struct, frozen=True, kw_only=True):
    """What an adapter can know. cancels: there is a call for it. stopped, runs_on: evidence, and whether it counts
    as leaked, after a cancel that works and one that does not. stops_alone: it ends with its connection.
    """

    cancels: bool = True
    stopped: tuple[Evidence, bool] = (Evidence.TERMINAL, False)
    runs_on: tuple[Evidence, bool] = (Evidence.ACKNOWLEDGED, True)
    stops_alone: bool = False


_CLOSED = (Evidence.CHANNEL_CLOSED, True)
_CHANNEL = Traits(cancels=False, stopped=_CLOSED, runs_on=_CLOSED)


class Rig(Struct, kw_only=True):
    """api: None where nothing is served. submit: the kind of the call that begins the work."""

    provider: Provider
    world: World
    traits: Traits
    call: Call = JOB
    submit: str = "submit"
    api: Any = None


Maker = Callable[[World], AbstractAsyncContextManager[Rig]]


def setup_of(name: str, **secrets: str) -> Setup:
    """For loopback, at the tests' pace."""
    return Setup(
        name=name,
        secrets=Secrets(secrets or {"apiKey": "secret-key"}),
        usd_per_second=0.001,
        allowed_networks=("127.0.0.0/8",),
        scale=SCALE,
        call_seconds=CALL_SECONDS,
    )


def _rig(make: Callable[[str], Provider], api: Callable[[World], Api], traits: Traits, **more: Any) -> Maker:
    @asynccontextmanager
    async def maker(world: World) -> AsyncIterator[Rig]:
        served = api(world)
        async with serving(served) as url:
            provider = make(url)
            try:
                yield Rig(provider=provider, world=world, traits=traits, api=served, **more)
            finally:
                await provider.close()

    return maker


def runpod(url: str, scale: float = SCALE) -> RunPod:
    """Against the imitated queue."""
    setup = msgspec.structs.replace(setup_of("runpod"), scale=scale)
    return RunPod(setup, "ep", api=f"{url}/v2", management=f"{url}/management")


def declaration(url: str) -> Declaration:
    """Of the queue API."""
    return Declaration(
        submit=DeclaredCall(url=f"{url}/app", method="POST", body="{arguments: @}"),
        job="data.request_id",
        status=DeclaredCall(url=f"{url}/app/requests/{{id}}/status"),
        states={
            "IN_QUEUE": AttemptState.QUEUED,
            "IN_PROGRESS": AttemptState.RUNNING,
            "COMPLETED": AttemptState.VALID,
            "ERROR": AttemptState.FAILED,
            "CANCELED": AttemptState.CANCELLED,
        },
        result=DeclaredCall(url=f"{url}/app/requests/{{id}}"),
        output="data[0].output",
        cancel=DeclaredCall(url=f"{url}/app/requests/{{id}}/cancel", method="PUT"),
        headers={"Authorization": "Key ${apiKey}"},
    )


def _declared(url: str) -> DeclaredHTTP:
    return DeclaredHTTP(setup_of("declared"), declaration(url))


def _declared_sync(url: str) -> DeclaredHTTP:
    declared = Declaration(
        submit=DeclaredCall(url=f"{url}/sync", method="POST", body="{arguments: @}"),
        output="data.0.output",
        headers={"Authorization": "Key ${apiKey}"},
    )
    return DeclaredHTTP(setup_of("declared"), declared)


def _openai(url: str) -> PassThrough:
    return PassThrough(msgspec.structs.replace(setup_of("vllm"), stops_on_disconnect=True), url)


def _modal_setup() -> Setup:
    return setup_of("modal", tokenId="wk-id", tokenSecret="ws-secret-key")


def _modal_api(world: World) -> WrapperApi:
    return WrapperApi(world, {"Modal-Key": "wk-id", "Modal-Secret": "ws-secret-key"})


def _vast(url: str) -> Vast:
    workers, route = f"{url}/get_endpoint_workers/", f"{url}/route/"
    return Vast(setup_of("vast"), "ep", endpoint_id=7, route=route, workers=workers, api=f"{url}/api/v0")


def cerebrium(url: str, *, beacon: bool) -> Cerebrium:
    """Against the imitated one."""
    return Cerebrium(setup_of("cerebrium"), f"{url}/v4/p-1/app/run", rest=f"{url}/v2", beacon=beacon)


@asynccontextmanager
async def lambda_rig(world: World) -> AsyncIterator[Rig]:
    """One machine of the pool is there, another one is somebody else's."""
    cloud, agent = LambdaApi(world), WrapperApi(world, {"Authorization": "Bearer agent-secret"})
    async with serving(cloud) as url, serving(agent) as agent_url:
        cloud.machines[cloud.add("pool")] = ("pool", 0.0)
        pool = Pool(name="pool", instance_type="gpu_1x_a10", region="us-east-1", ssh_key="key")
        setup = setup_of("lambda", apiKey="secret-key", agentToken="agent-secret")
        provider = LambdaPool(setup, pool, port=int(agent_url.rpartition(":")[2]), api=url)
        try:
            yield Rig(provider=provider, world=world, traits=Traits(), api=cloud)
        finally:
            await provider.close()


@asynccontextmanager
async def _plugin_rig(world: World) -> AsyncIterator[Rig]:
    provider = Plugin(setup_of("mine"), "mine", {}, kind=plugin_over(world))
    yield Rig(provider=provider, world=world, traits=Traits())


_CHAT_CALL = Call(path="/v1/chat/completions", body=_CHAT)
_CEREBRIUM = Traits(stopped=(Evidence.CHANNEL_CLOSED, False), runs_on=(Evidence.ACKNOWLEDGED, True))
_VLLM = Traits(
    cancels=False, stopped=(Evidence.CHANNEL_CLOSED, False), runs_on=(Evidence.CHANNEL_CLOSED, False), stops_alone=True
)

MAKERS: dict[str, Maker] = {
    "RunPod's queue": _rig(runpod, RunPodApi, Traits()),
    "RunPod's load balancer": _rig(
        lambda url: RunPodBalanced(setup_of("runpod"), "ep", url=url, management=f"{url}/management"),
        OpenAIApi,
        _CHANNEL,
        call=_CHAT_CALL,
    ),
    "a declared API of jobs": _rig(
        lambda url: DeclaredHTTP(setup_of("declared"), declaration(url)), QueueApi, Traits()
    ),
    "a declared API that answers at once": _rig(_declared_sync, QueueApi, _CHANNEL, submit="submit-sync"),
    "Modal's web function": _rig(lambda url: Modal(_modal_setup(), url), ModalApi, _CHANNEL),
    "Modal behind our wrapper": _rig(
        lambda url: ModalWrapped(_modal_setup(), url), _modal_api, Traits(runs_on=(Evidence.ACKNOWLEDGED, False))
    ),
    "Cerebrium": _rig(lambda url: cerebrium(url, beacon=False), CerebriumApi, _CHANNEL),
    "Cerebrium with our beacon": _rig(lambda url: cerebrium(url, beacon=True), CerebriumApi, _CEREBRIUM),
    "Vast": _rig(_vast, VastApi, _CHANNEL),
    "an OpenAI server": _rig(_openai, OpenAIApi, _VLLM, call=_CHAT_CALL),
    "Lambda": lambda_rig,
    "a plugin": _plugin_rig,
}
HTTP = [name for name in MAKERS if name != "a plugin"]
LOOKS = ["RunPod's queue", "a declared API of jobs", "Modal behind our wrapper", "Lambda", "a plugin"]
CANCELS = [*LOOKS, "Cerebrium with our beacon"]
