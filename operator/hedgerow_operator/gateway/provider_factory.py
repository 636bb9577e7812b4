"""Makes the adapter of a ServerlessProvider. What a type needs is imported when there is one of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from hedgerow_operator.adapters.providers.contract import Provider
from hedgerow_operator.adapters.providers.guard import Forbidden, Guard
from hedgerow_operator.adapters.providers.limiter import Limiters
from hedgerow_operator.adapters.providers.setup import Limits, Secrets, Setup
from hedgerow_operator.api.address_rules import urls_of
from hedgerow_operator.api.provider_types import (
    CerebriumSection,
    HTTPSection,
    KubernetesSection,
    ModalSection,
    RunPodSection,
    VastSection,
)
from hedgerow_operator.api.serverless_provider import ServerlessProvider, ServerlessProviderSpec
from hedgerow_operator.gateway.simulation import simulated

Make = Callable[[ServerlessProvider, Setup], Provider]


def provider_of(
    provider: ServerlessProvider,
    name: str,
    secrets: Mapping[str, str],
    allowed_networks: tuple[str, ...] = (),
    limiters: Limiters | None = None,
) -> Provider:
    """The adapter, called ``name`` as its endpoint calls it. Made on the loop that uses it.

    secrets: of its Secret. allowed_networks, limiters: see Setup. Raises ValueError in a sentence.
    """
    setup = setup_of(provider.spec, name, secrets, allowed_networks, limiters or Limiters())
    _may_be_asked(provider.spec, Guard(allowed_networks))
    return _MAKERS[provider.spec.type](provider, setup)


def _may_be_asked(spec: ServerlessProviderSpec, guard: Guard) -> None:
    for place, url in urls_of(spec):
        try:
            guard.check_url(url)
        except Forbidden as error:
            raise ValueError(f"spec.{place}: {error.strerror} (--allow-network)") from None


def setup_of(
    spec: ServerlessProviderSpec,
    name: str,
    secrets: Mapping[str, str],
    allowed_networks: tuple[str, ...],
    limiters: Limiters,
) -> Setup:
    """What all types are made from."""
    price, limits = spec.price, spec.limits
    return Setup(
        name=name,
        secrets=Secrets(secrets),
        usd_per_second=float(Decimal(price.per_second_usd)) if price is not None else 0.0,
        idle_billed_seconds=float(price.idle_billed_seconds) if price is not None else 0.0,
        limits=Limits(per_ten_seconds=limits.per_ten_seconds, concurrent=limits.concurrent) if limits else Limits(),
        allowed_networks=allowed_networks,
        stops_on_disconnect=spec.stops_on_disconnect,
        limiters=limiters,
    )


def _runpod(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.runpod.balanced import RunPodBalanced
    from hedgerow_operator.adapters.providers.runpod.queue import RunPod

    section, endpoint = provider.spec.runpod or RunPodSection(), provider.spec.endpoint or ""
    there = {"management": section.management_url} if section.management_url else {}
    if section.mode == "LoadBalancer":
        return RunPodBalanced(setup, endpoint, url=section.api_url or "", **there)
    return RunPod(setup, endpoint, **there, **({"api": section.api_url} if section.api_url else {}))


def _modal(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.modal.web import Modal
    from hedgerow_operator.adapters.providers.modal.wrapped import ModalWrapped

    section = provider.spec.modal or ModalSection()
    kind = ModalWrapped if section.mode == "Wrapper" else Modal
    return kind(setup, provider.spec.endpoint or "")


def _vast(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.vast.provider import Vast

    section = provider.spec.vast or VastSection()
    there = {"route": section.route_url} if section.route_url else {}
    return Vast(
        setup,
        provider.spec.endpoint or "",
        endpoint_id=section.endpoint_id or 0,
        path=section.path,
        cost=float(section.cost),
        **there,
    )


def _lambda(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.lambda_pool.machines import Pool
    from hedgerow_operator.adapters.providers.lambda_pool.provider import LambdaPool

    section, own = provider.spec.lambda_, provider.metadata
    if section is None:
        raise ValueError("spec.lambda: type Lambda needs it")
    pool = Pool(
        name=f"hedgerow-{own.namespace}-{own.name}",
        instance_type=section.instance_type,
        region=section.region,
        ssh_key=section.ssh_key,
    )
    there = {"api": section.api_url} if section.api_url else {}
    return LambdaPool(setup, pool, port=section.port, **there)


def _cerebrium(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.cerebrium.provider import Cerebrium

    section = provider.spec.cerebrium or CerebriumSection()
    there = {"rest": section.rest_url} if section.rest_url else {}
    return Cerebrium(setup, provider.spec.endpoint or "", beacon=section.beacon, **there)


def _http(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.declared.declaration import filled
    from hedgerow_operator.adapters.providers.declared.provider import DeclaredHTTP
    from hedgerow_operator.adapters.providers.passthrough import PassThrough
    from hedgerow_operator.gateway.declarations import declaration_of

    section, endpoint = provider.spec.http or HTTPSection(), (provider.spec.endpoint or "").rstrip("/")
    if section.submit is not None:
        return DeclaredHTTP(setup, declaration_of(section, endpoint, setup.secrets))
    headers = None if section.headers is None else filled(section.headers, setup.secrets)
    return PassThrough(setup, endpoint, health_path=section.health_path or "/health", headers=headers)


def _kubernetes(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.kubernetes import Kubernetes

    section = provider.spec.kubernetes or KubernetesSection()
    return Kubernetes(
        setup,
        provider.spec.endpoint or "",
        namespace=provider.metadata.namespace,
        port=section.port,
        health_path=section.health_path,
    )


def _simulated(provider: ServerlessProvider, setup: Setup) -> Provider:
    return simulated(provider.spec.simulated, setup)


def _plugin(provider: ServerlessProvider, setup: Setup) -> Provider:
    from hedgerow_operator.adapters.providers.plugin import Plugin

    section = provider.spec.plugin
    if section is None:
        raise ValueError("spec.plugin: type Plugin needs it")
    return Plugin(setup, section.name, section.options or {})


_MAKERS: dict[str, Make] = {
    "RunPod": _runpod,
    "Modal": _modal,
    "Vast": _vast,
    "Lambda": _lambda,
    "Cerebrium": _cerebrium,
    "HTTP": _http,
    "Kubernetes": _kubernetes,
    "Simulated": _simulated,
    "Plugin": _plugin,
}
