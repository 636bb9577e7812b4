"""Time for the tests of the gateway: it does not pass while a busy machine runs something else."""

import asyncio
from collections.abc import Callable, Mapping

from tests.steady_loop import SteadyLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """See SteadyLoop."""
    return {"steady": SteadyLoop}
