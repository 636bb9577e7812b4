"""hedgerow-gateway: serves inference endpoints, of manifests in a directory or of those on a cluster."""

import asyncio
import importlib
from collections.abc import Callable


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed: half of the time of a request is the loop's."""
    try:
        uvloop = importlib.import_module("uvloop")
    except ImportError:
        return asyncio.new_event_loop()
    make: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return make()
