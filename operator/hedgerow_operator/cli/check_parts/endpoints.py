"""What there is to say of InferenceEndpoints and ServerlessProviders that keep the rules, without any cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hedgerow_operator.adapters.providers.guard import Forbidden, Guard
from hedgerow_operator.api.address_rules import urls_of
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint
from hedgerow_operator.api.manifests import FoundEndpoint, FoundProvider, Manifests
from hedgerow_operator.api.serverless_provider import ServerlessProvider
from hedgerow_operator.cli.check_parts.finding import ERROR, FINE, WARNING, Finding
from hedgerow_operator.core.hedging.validation.judge import fault_of

_KEPT = "keeps the schema and every rule of this release"
# hedgerow local allows it; elsewhere the gateway says so.
_OWN_MACHINE = ("127.0.0.0/8", "::1/128")
_ALLOWING = "gateway.allowedNetworks of the chart, --allow-network of hedgerow-gateway"
_Providers = Mapping[tuple[str, str], ServerlessProvider]


def findings(found: Manifests) -> Iterator[Finding]:
    """Those of each, the endpoints first."""
    known = {(one.provider.metadata.namespace, one.provider.metadata.name): one.provider for one in found.providers}
    for endpoint in found.endpoints:
        yield Finding(FINE, "manifest", _KEPT, endpoint.where, _name(endpoint.endpoint))
        yield from _providers(endpoint, known)
        yield from _answer_checks(endpoint)
    for provider in found.providers:
        yield Finding(FINE, "manifest", _KEPT, provider.where, _name(provider.provider))
        yield from _addresses(provider)


def _providers(found: FoundEndpoint, known: _Providers) -> Iterator[Finding]:
    endpoint = found.endpoint
    for use in endpoint.spec.providers:
        provider = known.get((endpoint.metadata.namespace, use.provider_ref.name))
        if provider is None:
            sentence = f"ServerlessProvider {use.provider_ref.name} is not written here; it must be there already"
            yield Finding(WARNING, "providers", sentence, found.where, _name(endpoint))
        elif endpoint.spec.budget is not None and provider.spec.price is None:
            sentence = (
                f'the budget needs the price of {use.provider_ref.name}; write its price.perSecondUSD, "0" if free'
            )
            yield Finding(ERROR, "budget", sentence, found.where, _name(endpoint))


def _answer_checks(found: FoundEndpoint) -> Iterator[Finding]:
    """What a gateway would refuse to serve the endpoint for: the rules of manifests know no schemas."""
    for number, check in enumerate(found.endpoint.spec.validate):
        fault = fault_of(check)
        if fault:
            yield Finding(ERROR, "validate", f"spec.validate[{number}]: {fault}", found.where, _name(found.endpoint))


def _addresses(found: FoundProvider) -> Iterator[Finding]:
    """Which of them a gateway refuses unless it is told otherwise."""
    guard = Guard(_OWN_MACHINE)
    for place, url in urls_of(found.provider.spec):
        try:
            guard.check_url(url)
        except Forbidden as error:
            yield Finding(WARNING, "address", f"spec.{place}: {error.strerror} ({_ALLOWING})", found.where,
                          _name(found.provider))  # fmt: skip


def _name(found: InferenceEndpoint | ServerlessProvider) -> str:
    return f"{found.kind} {found.metadata.namespace}/{found.metadata.name}"
