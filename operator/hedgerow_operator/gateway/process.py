"""The gateway's process: from its sockets to its last request."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Awaitable, Callable

from msgspec import Struct

from hedgerow_operator.gateway.money_metrics import MoneyCollector
from hedgerow_operator.gateway.ops import Ops
from hedgerow_operator.gateway.receipts_page import receipts_page
from hedgerow_operator.gateway.server import Listening
from hedgerow_operator.gateway.service import Options, Service
from hedgerow_operator.server.listening import prepare

_log = logging.getLogger(__name__)

# Serves what there is to serve, as it changes, and says ready once it does; ends only by an exception.
Follow = Callable[[Service], Awaitable[None]]


class Process(Struct, frozen=True, kw_only=True):
    """listener, ops: where clients ask, and where those who run it do. grace: seconds for requests that run when it is
    told to end. leave: seconds before that in which requests still come, until others have seen that it is not ready.
    """

    options: Options
    listener: socket.socket
    ops: socket.socket
    grace: float
    leave: float = 0.0


async def serve(process: Process, follow: Follow) -> None:
    """Until SIGTERM or SIGINT. Raises what ``follow`` does, and what opening the journal does."""
    prepare()
    service = Service(process.options)
    service.gateway.ready = False  # until it is known what there is to serve
    odd = service.open()
    if odd:
        _log.warning("%s", odd)
    ended, following = _ended(), asyncio.ensure_future(follow(service))
    pages = {"/receipts": receipts_page(service.books)}
    ops = Listening(service.gateway, Ops(service.gateway, pages, [MoneyCollector(service.books)]))
    try:
        await ops.start([process.ops])
        await service.start([process.listener])
        _log.info("serving on port %s", process.listener.getsockname()[1])
        waiting = asyncio.ensure_future(ended.wait())
        await asyncio.wait({waiting, following}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        service.gateway.ready = False
        if following.done():
            following.result()
        _log.info("ending; %d requests run", service.gateway.running)
        await asyncio.sleep(process.leave)
    finally:
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await following
        await service.stop(process.grace)
        await ops.close()


def _ended() -> asyncio.Event:
    """Set by the first signal; by the next one the process ends at once."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def end() -> None:
        ended.set()
        for one in signals:
            loop.remove_signal_handler(one)

    for one in signals:
        loop.add_signal_handler(one, end)
    return ended
