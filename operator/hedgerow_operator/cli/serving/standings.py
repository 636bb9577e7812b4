"""How the endpoints of a local run stand, as objects in its state directory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import time
from typing import TypeVar

import msgspec

from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.inference_endpoint import InferenceEndpoint, inference_endpoint_fields
from hedgerow_operator.api.serverless_provider import ServerlessProvider, serverless_provider_fields
from hedgerow_operator.api.times import format_time
from hedgerow_operator.api.yaml_writing import yaml_text
from hedgerow_operator.core.endpoints.provider_status import ProviderHealth, provider_status
from hedgerow_operator.core.endpoints.seen import EndpointShown
from hedgerow_operator.core.endpoints.status import endpoint_status

Place = tuple[str, str]
T = TypeVar("T", InferenceEndpoint, ServerlessProvider)


class Standings:
    """One writer. Objects are written when something has changed."""

    def __init__(
        self, paths: StatePaths, endpoints: Iterable[InferenceEndpoint], providers: Iterable[ServerlessProvider]
    ) -> None:
        self._paths, began = paths, format_time(time())
        self._endpoints = [_begun(endpoint, began) for endpoint in endpoints]
        self._providers = [_begun(provider, began) for provider in providers]
        self._health: dict[Place, ProviderHealth] = {}

    @property
    def endpoints(self) -> tuple[InferenceEndpoint, ...]:
        """As they stand."""
        return tuple(self._endpoints)

    def write(self, shown: Mapping[Place, EndpointShown], address: str) -> None:
        """Raises OSError."""
        for index, endpoint in enumerate(self._endpoints):
            namespace, name = endpoint.metadata.namespace, endpoint.metadata.name
            known = {
                use.name: self._health[namespace, use.provider_ref.name].trouble
                for use in endpoint.spec.providers
                if (namespace, use.provider_ref.name) in self._health
            }
            url = f"{address}/{namespace}/{name}"
            status = endpoint_status(endpoint, shown.get((namespace, name)), known, url, time())
            if status != endpoint.status:
                self._endpoints[index] = changed = msgspec.structs.replace(endpoint, status=status)
                self._store(endpoint, inference_endpoint_fields(changed))

    def heard(self, health: Mapping[Place, ProviderHealth]) -> None:
        """What the providers say. Raises OSError."""
        self._health.update(health)
        for index, provider in enumerate(self._providers):
            said = self._health.get((provider.metadata.namespace, provider.metadata.name))
            if said is None:
                continue
            status = provider_status(provider, said, time())
            if status != provider.status:
                self._providers[index] = changed = msgspec.structs.replace(provider, status=status)
                self._store(provider, serverless_provider_fields(changed))

    def _store(self, found: InferenceEndpoint | ServerlessProvider, fields: object) -> None:
        path = self._paths.other(found.kind, found.metadata.namespace, found.metadata.name)
        write_whole(path, yaml_text(fields).encode())


def _begun(found: T, began: str) -> T:
    metadata = msgspec.structs.replace(found.metadata, generation=1, creation_timestamp=began)
    return msgspec.structs.replace(found, metadata=metadata)
