"""The agent's metrics are reached by either family of addresses, as far as the machine has it."""

import socket
import urllib.request

import pytest

from hedgerow_agent.server import Server


def asked(server: Server, host: str) -> bytes:
    """What the server answers at this host."""
    with urllib.request.urlopen(f"http://{host}:{server.port}/metrics", timeout=120) as answer:
        return bytes(answer.read())


def hosts(address: str) -> list[str]:
    """Of both families, those that reach a server with this address."""
    server = Server(address, lambda: "x 1\n", lambda: "")
    found = []
    for host in ("127.0.0.1", "[::1]"):
        try:
            found += [host] if asked(server, host) == b"x 1\n" else []
        except OSError:
            continue
    server.close()
    return found


def test_without_a_host_every_address_of_either_family_is_served() -> None:
    assert hosts(":0") == ["127.0.0.1", "[::1]"] if socket.has_dualstack_ipv6() else ["127.0.0.1"]


def test_a_machine_whose_ipv6_is_switched_off_is_served_by_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    class WithoutIPv6(socket.socket):
        def bind(self, address: object) -> None:
            if self.family == socket.AF_INET6:
                raise OSError(99, "Cannot assign requested address")
            super().bind(address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "socket", WithoutIPv6)
    assert hosts(":0") == ["127.0.0.1"]


def test_an_address_that_is_given_is_the_only_one() -> None:
    assert hosts("127.0.0.1:0") == ["127.0.0.1"]
    assert hosts("0.0.0.0:0") == ["127.0.0.1"]


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    if socket.has_dualstack_ipv6():
        assert hosts("[::1]:0") == ["[::1]"]
    else:
        with pytest.raises(OSError, match="ddress"):
            hosts("[::1]:0")


def test_a_port_that_is_taken_is_an_error() -> None:
    server = Server(":0", str, str)
    with pytest.raises(OSError, match="in use"):
        Server(f":{server.port}", str, str)
    server.close()


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:http", "127.0.0.1:99999", "::1:9500"])
def test_an_address_that_is_none_is_refused_in_a_sentence(address: str) -> None:
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        Server(address, str, str)
