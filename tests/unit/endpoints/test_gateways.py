"""What the operator makes of gateways' reports: one status for all, and budgets that are never given out twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, InferenceEndpointStatus, inference_endpoint
from hedgerow_operator.api.inference_spec import Budget
from hedgerow_operator.api.serverless_provider import (
    ServerlessProvider,
    ServerlessProviderStatus,
    serverless_provider,
)
from hedgerow_operator.core.endpoints.provider_status import ProviderHealth
from hedgerow_operator.core.endpoints.report import GatewayReport
from hedgerow_operator.core.endpoints.seen import EndpointShown
from hedgerow_operator.core.hedging.budget import Limits
from hedgerow_operator.core.hedging.leases import Asked
from hedgerow_operator.reconcile.endpoints import EndpointReconciler
from hedgerow_operator.reconcile.gateways import SILENT_SECONDS, GatewayHub
from hedgerow_operator.reconcile.ports import Conflict, Unreachable

PLACE = "default/tts"
DOLLAR = 1_000_000_000
NOTHING = Limits(0, 0)


class Shelf:
    """Books in memory; slow, as an API server is."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.text, self.budget = "", budget or Budget(hourly_usd="10")
        self.away = False

    async def load(self, endpoint: str) -> tuple[str, Budget | None]:
        await asyncio.sleep(0)
        return self.text, self.budget

    async def keep(self, endpoint: str, book: str) -> None:
        await asyncio.sleep(0)
        if self.away:
            raise Unreachable("the API server is away")
        self.text = book


class Pods:
    """Those that are there; away: nothing can be read."""

    def __init__(self, *there: str) -> None:
        self.there, self.away, self.reads = set(there), False, 0

    async def gone(self, gateway: str) -> bool:
        self.reads += 1
        if self.away:
            raise Unreachable("the API server is away")
        return gateway not in self.there


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def asks(gateway: str, lease: Limits = NOTHING, used: Limits = NOTHING) -> GatewayReport:
    return GatewayReport(gateway=gateway, asked={PLACE: Asked(gateway=gateway, lease=lease, used=used)})


async def test_one_gateway_is_given_the_whole_budget() -> None:
    hub = GatewayHub(Shelf(), Pods(), Clock(), Clock())
    answer = await hub.receive(asks("gateway-0"))
    assert answer.leases[PLACE] == Limits(10 * DOLLAR, None)


async def test_several_that_ask_at_once_are_never_given_more_than_there_is() -> None:
    hub = GatewayHub(Shelf(), Pods(), Clock(), Clock())
    answers = await asyncio.gather(*(hub.receive(asks(f"gateway-{number}")) for number in range(5)))
    assert sum(answer.leases[PLACE].hourly or 0 for answer in answers) <= 10 * DOLLAR


async def test_another_operator_goes_on_from_what_was_written_down() -> None:
    shelf = Shelf()
    await GatewayHub(shelf, Pods(), Clock(), Clock()).receive(asks("gateway-0"))
    answer = await GatewayHub(shelf, Pods(), Clock(), Clock()).receive(asks("gateway-1"))
    assert answer.leases[PLACE] == Limits(0, None)


async def test_what_cannot_be_written_down_is_not_granted() -> None:
    shelf = Shelf()
    shelf.away = True
    with pytest.raises(Unreachable):
        await GatewayHub(shelf, Pods(), Clock(), Clock()).receive(asks("gateway-0"))


async def later_share(shelf: Shelf, pods: Pods, hours: float) -> int:
    """What gateway-1 is given so long after gateway-0, which had the whole, spoke last."""
    clock = Clock()
    hub = GatewayHub(shelf, pods, clock, clock)
    await hub.receive(asks("gateway-0"))
    clock.now += SILENT_SECONDS + 1
    assert (await hub.receive(asks("gateway-1"))).leases[PLACE].hourly == 0
    clock.now += hours * 3600
    return (await hub.receive(asks("gateway-1"))).leases[PLACE].hourly or 0


@pytest.mark.parametrize(
    ("hours", "pods", "share"),
    [
        pytest.param(3, Pods("gateway-1"), 10 * DOLLAR, id="the part of one whose pod is gone is free in time"),
        pytest.param(1, Pods("gateway-1"), 0, id="but not while what it spent may be in the window"),
        pytest.param(3, Pods("gateway-0", "gateway-1"), 0, id="one that is silent only keeps its part"),
    ],
)
async def test_what_becomes_of_the_part_of_a_gateway_that_is_silent(hours: float, pods: Pods, share: int) -> None:
    assert await later_share(Shelf(), pods, hours) == share


async def test_where_pods_cannot_be_read_no_gateway_is_gone() -> None:
    pods = Pods("gateway-1")
    pods.away = True
    assert await later_share(Shelf(), pods, 3) == 0
    assert pods.reads == 2


async def test_a_gateway_that_speaks_is_not_looked_for_and_one_that_is_there_not_often() -> None:
    clock, pods = Clock(), Pods("gateway-0")
    hub = GatewayHub(Shelf(), pods, clock, clock)
    await hub.receive(asks("gateway-0"))
    await hub.receive(asks("gateway-1"))
    assert pods.reads == 0
    clock.now += SILENT_SECONDS + 1
    for _ in range(3):
        await hub.receive(asks("gateway-1"))
    assert pods.reads == 1


async def test_that_a_gateway_is_gone_outlives_the_operator() -> None:
    shelf = Shelf()
    await later_share(shelf, Pods("gateway-1"), 0)
    clock = Clock()
    clock.now += 3 * 3600
    answer = await GatewayHub(shelf, Pods(), clock, clock).receive(asks("gateway-1"))
    assert answer.leases[PLACE].hourly == 10 * DOLLAR


async def test_an_endpoint_without_a_budget_needs_no_lease() -> None:
    shelf = Shelf()
    shelf.budget = None  # type: ignore[assignment]
    assert (await GatewayHub(shelf, Pods(), Clock(), Clock()).receive(asks("gateway-0"))).leases == {}


async def test_a_gateway_that_is_silent_counts_no_more() -> None:
    clock = Clock()
    hub = GatewayHub(Shelf(), Pods(), clock, clock)
    await hub.receive(GatewayReport(gateway="a", endpoints={PLACE: EndpointShown(requests=3)}))
    await hub.receive(GatewayReport(gateway="b", endpoints={PLACE: EndpointShown(requests=4)}))
    both = hub.shown(PLACE)
    assert both is not None
    assert both.requests == 7
    clock.now += SILENT_SECONDS + 1
    assert hub.shown(PLACE) is None


async def test_a_provider_is_bad_where_any_gateway_finds_it_so() -> None:
    hub = GatewayHub(Shelf(), Pods(), Clock(), Clock())
    await hub.receive(GatewayReport(gateway="a", providers={"default/p": ProviderHealth(ok=True)}))
    await hub.receive(GatewayReport(gateway="b", providers={"default/p": ProviderHealth(ok=False, sentence="no")}))
    found = hub.health("default/p")
    assert found is not None
    assert found.trouble == "no"
    assert hub.health("default/other") is None


class Stored:
    """Objects as the API server has them."""

    def __init__(self) -> None:
        spec: dict[str, Any] = {"protocol": "Job", "providers": [{"name": "a", "providerRef": {"name": "p"}}]}
        self.endpoint = inference_endpoint({"metadata": {"name": "tts"}, "spec": spec})
        self.provider = serverless_provider({"metadata": {"name": "p"}, "spec": {"type": "Simulated"}})
        self.writes = 0
        self.conflict = False

    async def endpoints(self) -> list[InferenceEndpoint]:
        return [self.endpoint]

    async def providers(self) -> list[ServerlessProvider]:
        return [self.provider]

    async def write_endpoint(self, endpoint: InferenceEndpoint, status: InferenceEndpointStatus) -> None:
        if self.conflict:
            raise Conflict("it has changed")
        self.writes += 1
        self.endpoint = InferenceEndpoint(metadata=endpoint.metadata, spec=endpoint.spec, status=status)

    async def write_provider(self, provider: ServerlessProvider, status: ServerlessProviderStatus) -> None:
        self.writes += 1
        self.provider = ServerlessProvider(metadata=provider.metadata, spec=provider.spec, status=status)


class Lease:
    held = True

    def holds(self) -> bool:
        return self.held


async def test_what_gateways_say_is_written_once() -> None:
    stored, hub = Stored(), GatewayHub(Shelf(), Pods(), Clock(), Clock())
    passes = EndpointReconciler(stored, hub, Lease(), "http://gw", lambda: 1_750_000_000.0)
    await passes.reconcile()
    assert (stored.endpoint.status.state, stored.endpoint.status.reason) == ("NotReady", "NoGateway")
    assert (stored.provider.status.state, stored.provider.status.reason) == ("Unknown", "NotMeasured")
    report = GatewayReport(
        gateway="a",
        endpoints={PLACE: EndpointShown(requests=3)},
        providers={"default/p": ProviderHealth(ok=True, warm=1)},
    )
    await hub.receive(report)
    await passes.reconcile()
    assert (stored.endpoint.status.state, stored.endpoint.status.requests) == ("Ready", 3)
    assert stored.endpoint.status.url == "http://gw/default/tts"
    assert (stored.provider.status.state, stored.provider.status.warm) == ("Ready", 1)
    writes = stored.writes
    await passes.reconcile()
    assert stored.writes == writes


async def test_who_does_not_lead_writes_nothing_and_a_conflict_is_for_the_next_pass() -> None:
    stored, hub, lease = Stored(), GatewayHub(Shelf(), Pods(), Clock(), Clock()), Lease()
    passes = EndpointReconciler(stored, hub, lease, "http://gw", lambda: 0.0)
    lease.held = False
    await passes.reconcile()
    assert stored.writes == 0
    lease.held, stored.conflict = True, True
    await passes.reconcile()
    assert stored.endpoint.status.state == ""
