"""The socket of the report server, for clusters of either family of addresses."""

from __future__ import annotations

import socket


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
