"""Endpoints of a cluster: watched, served as they are written, and told of to the operator."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from msgspec import Struct

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.endpoints import KubeEndpoints, KubeSecretEntries
from hedgerow_operator.gateway.health_rounds import HealthRounds
from hedgerow_operator.gateway.operator_link import OperatorLink
from hedgerow_operator.gateway.secret_files import SecretMissingError
from hedgerow_operator.gateway.service import Service
from hedgerow_operator.reconcile.ports import Refused, Unreachable

_log = logging.getLogger(__name__)
_WATCH_SECONDS = 300
_RETRY_SECONDS = 2.0
# Secrets are not watched: that would need the right to list them all. A key that has changed counts from then on.
_LOOK_SECONDS = 60.0
# Several changes come together when somebody applies a folder.
_GATHER_SECONDS = 0.05


class ClusterSource(Struct, frozen=True, kw_only=True):
    """namespaces: those that are served; empty: all. link: None: no operator is told."""

    api: Api
    namespaces: tuple[str, ...] = ()
    link: OperatorLink | None = None


class ClusterSecrets:
    """See SecretSource. What was read once goes on being known while the API server is away."""

    def __init__(self, api: Api) -> None:
        self._entries = KubeSecretEntries(api)
        self._known: dict[tuple[str, str], Mapping[str, bytes]] = {}

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        """See SecretSource."""
        try:
            self._known[namespace, name] = entries = await self._entries.read(namespace, name)
        except Refused as error:
            self._known.pop((namespace, name), None)
            raise SecretMissingError(str(error)) from None
        except Unreachable as error:
            if (namespace, name) not in self._known:
                raise SecretMissingError(str(error)) from None
            return self._known[namespace, name]
        return entries


async def follow_cluster(service: Service, source: ClusterSource) -> None:
    """For ever: see process.Follow."""
    objects = KubeEndpoints(source.api, source.namespaces)
    changed = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for path in (*objects.endpoint_paths, *objects.provider_paths):
            group.create_task(_watch(source.api, path, changed))
        group.create_task(_serve(service, objects, source, changed))


async def _watch(api: Api, path: str, changed: asyncio.Event) -> None:
    while True:
        try:
            async for _ in api.changes(path, _WATCH_SECONDS):
                changed.set()
        except (Unreachable, Rejected) as error:
            _log.warning("%s", error)
            await asyncio.sleep(_RETRY_SECONDS)
        changed.set()


async def _serve(service: Service, objects: KubeEndpoints, source: ClusterSource, changed: asyncio.Event) -> None:
    telling: asyncio.Task[None] | None = None
    health = HealthRounds(service.desk, (), lambda found: None)
    async with asyncio.TaskGroup() as group:
        group.create_task(health.run())
        while True:
            changed.clear()
            try:
                endpoints, providers = await objects.endpoints(), await objects.providers()
            except Unreachable as error:
                _log.warning("what is served stays as it is: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            await service.apply(endpoints, providers)
            health.follow(providers)
            service.gateway.ready = True
            if telling is None and source.link is not None:
                telling = group.create_task(source.link.run(service, health))
            await _until(changed)


async def _until(changed: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            await changed.wait()
    except TimeoutError:
        return
    await asyncio.sleep(_GATHER_SECONDS)
