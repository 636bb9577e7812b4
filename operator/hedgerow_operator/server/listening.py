"""The socket of the report server, for clusters of either family of addresses."""

from __future__ import annotations

import gc
import resource
import socket

# Connections that wait to be accepted: a thousand launchers may start in the same second.
BACKLOG = 1024


def prepare() -> None:
    """Make the process ready to hear ten thousands of senders: as many connections as it may have, and no full
    collections of garbage over millions of numbers that reports are made of (there are no cycles in them)."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.set_threshold(10_000, 5, 10_000)


def most_connections() -> int:
    """How many connections there may be. asyncio accepts BACKLOG at a time, and must never find no file left: it would
    say so for each of them; other files need some too."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(soft // 2, soft - BACKLOG - 256)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. host empty: every address, IPv6 too where the machine has it; OSError as socket.bind."""
    if host:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    try:
        return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    except (OSError, ValueError):
        # IPv6 is not built in, or switched off. A port that is taken is taken here too.
        return socket.create_server(("", port))
