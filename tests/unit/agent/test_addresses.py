"""Launchers find each other by addresses of either family."""

from __future__ import annotations

import queue
import socket

import pytest

from hedgerow import peers
from hedgerow.fence import PeerWord
from hedgerow.membership import Membership
from hedgerow.options import Options
from hedgerow.wire import COMMAND_START, Command


def usable(address: str) -> bool:
    """Whether this machine has the address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("address", [address for address in ("127.0.0.1", "::1") if usable(address)])
def test_a_launcher_answers_at_the_address_that_it_gives(address: str) -> None:
    member = Membership(Options(("train",), workers=2), address)
    member.serve()
    member.join(Command(COMMAND_START, 3, nonce="secret"), sent=1.0)
    heard: queue.SimpleQueue[PeerWord] = queue.SimpleQueue()
    peers.ask((member.address,), 3, "secret", lambda _peer, word: heard.put(word))
    assert heard.get(timeout=120).answer.running
    member.close()


def test_an_address_of_ipv6_is_written_so_that_its_port_can_be_told_from_it() -> None:
    member = Membership(Options(("train",)), "fd00::7")
    assert member.address.startswith("[fd00::7]:")
    member.close()
