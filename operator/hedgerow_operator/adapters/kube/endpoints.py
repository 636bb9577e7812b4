"""InferenceEndpoints and ServerlessProviders in the API server, and the Secrets that they name."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Fields, Rejected
from hedgerow_operator.api.inference_endpoint import (
    InferenceEndpoint,
    InferenceEndpointStatus,
    inference_endpoint,
    inference_endpoint_fields,
)
from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.api.serverless_provider import (
    ServerlessProvider,
    ServerlessProviderStatus,
    serverless_provider,
    serverless_provider_fields,
)
from hedgerow_operator.reconcile.ports import Conflict, Refused, Unreachable


class KubeEndpoints:
    """namespaces: those that are looked at; empty: all. Implements reconcile.endpoints.Endpoints."""

    def __init__(self, api: Api, namespaces: tuple[str, ...]) -> None:
        self._api = api
        self.endpoint_paths = paths.inference_endpoints(namespaces)
        self.provider_paths = paths.serverless_providers(namespaces)

    async def endpoints(self) -> tuple[InferenceEndpoint, ...]:
        """Every one that is not being deleted, and that this release can read. Raises Unreachable."""
        found = await self._list(self.endpoint_paths)
        return tuple(one for fields in found if (one := _read_endpoint(fields)) is not None)

    async def providers(self) -> tuple[ServerlessProvider, ...]:
        """As endpoints."""
        found = await self._list(self.provider_paths)
        return tuple(one for fields in found if (one := _read_provider(fields)) is not None)

    async def write_endpoint(self, endpoint: InferenceEndpoint, status: InferenceEndpointStatus) -> None:
        """Store the status guarded by the resourceVersion. Raises Conflict, Unreachable."""
        own = endpoint.metadata
        body = {**inference_endpoint_fields(endpoint), "status": to_builtins(status)}
        await self._replace(f"{paths.inference_endpoint(own.namespace, own.name)}/status", body)

    async def write_provider(self, provider: ServerlessProvider, status: ServerlessProviderStatus) -> None:
        """As write_endpoint."""
        own = provider.metadata
        body = {**serverless_provider_fields(provider), "status": to_builtins(status)}
        await self._replace(f"{paths.serverless_provider(own.namespace, own.name)}/status", body)

    async def annotate(self, namespace: str, name: str, key: str, value: str) -> None:
        """Keep something at the endpoint. Raises Unreachable."""
        try:
            patch = {"metadata": {"annotations": {key: value}}}
            await self._api.merge(paths.inference_endpoint(namespace, name), patch)
        except Rejected as error:
            raise Unreachable(f"InferenceEndpoint {name} cannot be annotated: {error}") from error

    async def _list(self, collections: list[str]) -> list[Fields]:
        try:
            found = [fields for path in collections for fields in await self._api.list(path)]
        except Rejected as error:
            raise Unreachable(f"endpoints cannot be listed: {error}") from error
        return [fields for fields in found if "deletionTimestamp" not in fields["metadata"]]

    async def _replace(self, path: str, body: Fields) -> None:
        try:
            await self._api.replace(path, body)
        except Rejected as error:
            if error.status in (404, 409):
                raise Conflict(str(error)) from error
            raise Unreachable(f"{path} cannot be changed: {error}") from error


class KubeSecretEntries:
    """Whole Secrets, each read by its name when it is asked for."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        """Its entries. Raises Refused with what to do where it is not there, Unreachable."""
        place = f"Secret {namespace}/{name}"
        try:
            fields = await self._api.find(paths.secret(namespace, name))
        except Rejected as error:
            raise Refused(f"{place} may not be read: {error}") from None
        if fields is None:
            raise Refused(f"there is no {place}; create it")
        try:
            data = fields.get("data") or {}
            return {key: base64.b64decode(text, validate=True) for key, text in data.items()}
        except (binascii.Error, TypeError):
            raise Refused(f"{place} holds what is not base64") from None


def _read_endpoint(fields: Fields) -> InferenceEndpoint | None:
    try:
        return inference_endpoint(fields)
    except ValueError:
        return None


def _read_provider(fields: Fields) -> ServerlessProvider | None:
    try:
        return serverless_provider(fields)
    except ValueError:
        return None
