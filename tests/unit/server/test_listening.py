"""The report server is reached by either family of addresses, as far as the machine has it."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from hedgerow_operator.server.listening import listen


def reached(server: socket.socket, address: str) -> bool:
    """Whether somebody can connect to the server at this address."""
    with socket.create_connection((address, server.getsockname()[1]), timeout=120):
        return True


def test_without_an_address_it_is_reached_by_ipv4_whatever_else_the_machine_has() -> None:
    with listen("", 0) as server:
        assert reached(server, "127.0.0.1")


def test_without_an_address_it_is_reached_by_ipv6_where_the_machine_has_it() -> None:
    with listen("", 0) as server:
        assert server.family == socket.AF_INET or reached(server, "::1")


def test_a_machine_whose_ipv6_is_switched_off_is_served_by_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    create = socket.create_server

    def without_ipv6(*arguments: Any, family: int = socket.AF_INET, **more: Any) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(99, "Cannot assign requested address")
        return create(*arguments, family=family, **more)

    monkeypatch.setattr(socket, "create_server", without_ipv6)
    with listen("", 0) as server:
        assert reached(server, "127.0.0.1")


def test_an_address_that_is_given_is_the_only_one() -> None:
    with listen("127.0.0.1", 0) as server:
        assert server.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_an_error() -> None:
    with listen("", 0) as server, pytest.raises(OSError, match="in use"):
        listen("", server.getsockname()[1])
