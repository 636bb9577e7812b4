"""Manifests of a folder, for a machine without a cluster: read again when something in it changes."""

import asyncio
import logging
from pathlib import Path

from hedgerow_operator.api.manifests import load_manifests
from hedgerow_operator.gateway.service import Service

_log = logging.getLogger(__name__)
LOOK_SECONDS = 2.0


async def follow_directory(service: Service, path: Path, look_seconds: float = LOOK_SECONDS) -> None:
    """For ever: what is written there is served. A mistake is logged, and what was served before goes on."""
    before: object = None
    told: set[str] = set()
    while True:
        now = await asyncio.to_thread(_signature, path)
        if now != before:
            before = now
            await _apply(service, path)
        told = _tell(service, told)
        await asyncio.sleep(look_seconds)


async def _apply(service: Service, path: Path) -> None:
    found = await asyncio.to_thread(load_manifests, str(path))
    for error in found.errors:
        _log.error("%s", error)
    if found.errors and service.shown():
        _log.error("nothing is changed until this is put right")
        return
    await service.apply([one.endpoint for one in found.endpoints], [one.provider for one in found.providers])
    service.gateway.ready = True


def _tell(service: Service, told: set[str]) -> set[str]:
    """Of endpoints that are not served, once."""
    now = {
        f"{'/'.join(place)} is not served: {shown.sentence}"
        for place, shown in service.shown().items()
        if not shown.served
    }
    for sentence in now - told:
        _log.error("%s", sentence)
    return now


def _signature(path: Path) -> object:
    """Changes whenever a file does."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    seen = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        seen.append((file.name, status.st_mtime_ns, status.st_size, status.st_ino))
    return seen
