"""The passes over InferenceEndpoints and ServerlessProviders: what the gateways say is written into their status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from hedgerow_operator.api import reasons
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, InferenceEndpointStatus
from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.serverless_provider import ServerlessProvider, ServerlessProviderStatus
from hedgerow_operator.core.endpoints.provider_status import ProviderHealth, provider_status
from hedgerow_operator.core.endpoints.seen import EndpointShown
from hedgerow_operator.core.endpoints.status import endpoint_status
from hedgerow_operator.reconcile.ports import Conflict, Leadership

_UNUSED = ProviderHealth(ok=None, reason=reasons.NOT_MEASURED, sentence="no gateway uses it")


class Endpoints(Protocol):
    """Where the objects live. Every method may raise Unreachable."""

    async def endpoints(self) -> Sequence[InferenceEndpoint]:
        """As stored now."""

    async def providers(self) -> Sequence[ServerlessProvider]:
        """As stored now."""

    async def write_endpoint(self, endpoint: InferenceEndpoint, status: InferenceEndpointStatus) -> None:
        """Guarded by the resourceVersion. Raises Conflict."""

    async def write_provider(self, provider: ServerlessProvider, status: ServerlessProviderStatus) -> None:
        """Guarded by the resourceVersion. Raises Conflict."""


class Gateways(Protocol):
    """What is heard of them; places are NAMESPACE/NAME."""

    def shown(self, endpoint: str) -> EndpointShown | None:
        """None: no gateway serves it."""

    def health(self, provider: str) -> ProviderHealth | None:
        """None: no gateway has asked."""


class EndpointReconciler:
    """url: what status.url begins with."""

    def __init__(
        self, objects: Endpoints, gateways: Gateways, leadership: Leadership, url: str, clock: Callable[[], float]
    ) -> None:
        self._objects, self._gateways, self._leadership = objects, gateways, leadership
        self._url, self._clock = url.rstrip("/"), clock

    async def reconcile(self) -> None:
        """One pass over all; at most one write for each, and none where nothing has changed. Raises Unreachable."""
        if not self._leadership.holds():
            return
        for provider in await self._objects.providers():
            await self._provider(provider)
        for endpoint in await self._objects.endpoints():
            await self._endpoint(endpoint)

    async def _provider(self, provider: ServerlessProvider) -> None:
        health = self._gateways.health(_place(provider.metadata)) or _UNUSED
        status = provider_status(provider, health, self._clock())
        if status != provider.status:
            try:
                await self._objects.write_provider(provider, status)
            except Conflict:
                return  # it has changed since it was read, and is looked at again soon

    async def _endpoint(self, endpoint: InferenceEndpoint) -> None:
        place, namespace = _place(endpoint.metadata), endpoint.metadata.namespace
        found = {
            use.name: self._gateways.health(f"{namespace}/{use.provider_ref.name}") for use in endpoint.spec.providers
        }
        health = {name: one.trouble for name, one in found.items() if one is not None}
        shown = self._gateways.shown(place)
        status = endpoint_status(endpoint, shown, health, f"{self._url}/{place}", self._clock())
        if status != endpoint.status:
            try:
                await self._objects.write_endpoint(endpoint, status)
            except Conflict:
                return


def _place(metadata: ObjectMeta) -> str:
    return f"{metadata.namespace}/{metadata.name}"
