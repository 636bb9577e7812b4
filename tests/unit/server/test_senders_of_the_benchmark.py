"""The launchers of benchmarks/ingest.py keep to what ours do; else it would say of the server what is its own doing."""

import importlib
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
_BODY = b'{"interval_seconds":5.0}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
NODES = 3


class World:
    """Time that passes when somebody looks, and the far ends of all connections, in the order they were made in."""

    def __init__(self) -> None:
        self.now = 100.0
        self.ends: list[socket.socket] = []
        self.end_of: dict[Any, socket.socket] = {}  # by Link
        self.opened: list[socket.socket] = []

    def monotonic(self) -> float:
        self.now += 0.01
        return self.now

    def connect(self, link: Any) -> socket.socket:
        near, far = socket.socketpair()
        near.setblocking(False)
        far.setblocking(False)
        link.sock = near
        self.ends.append(far)
        self.end_of[link] = far
        self.opened += [near, far]
        return near

    def requests(self) -> list[int]:
        """How many have come by each connection since this was asked last."""
        return [_received(end).count(b"POST ") for end in self.ends]


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(1 << 20)
    except BlockingIOError:
        return b""


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    made, module = World(), importlib.import_module("ingest_parts.load")
    monkeypatch.setattr(module, "time", made)
    monkeypatch.setattr(module.Link, "connect", lambda link, _port: made.connect(link))
    monkeypatch.setattr(module.Load, "hear", _without_waiting(module.Load.hear))
    yield made
    for end in made.opened:
        end.close()


def _without_waiting(hear: Callable[[Any, float], None]) -> Callable[[Any, float], None]:
    return lambda load, _seconds: hear(load, 0.0)


def launchers() -> Any:
    """Launchers that have each reported once and wait for the answer."""
    plan = {
        "port": 0, "first": 0, "nodes": NODES, "workers": [NODES] * NODES, "agentLinks": 1, "launchers": True,
        "agents": False, "period": 5.0, "hold": 0.0, "warm": 0.0, "ramp": 0.0, "obey": True, "storm": 1.0,
    }  # fmt: skip
    load = importlib.import_module("ingest_parts.load").Load(plan)
    load.run(1.0)
    return load


def test_in_a_storm_no_launcher_sends_another_report_behind_one_whose_answer_is_held(world: World) -> None:
    load = launchers()
    assert world.requests() == [1] * NODES
    # The last one is answered just when the storm begins, and has not yet come to its turn.
    world.end_of[load.everybody[-1].link].sendall(ANSWER)
    load.storm(3.0)
    assert world.requests() == [0] * NODES + [1] * NODES


def test_in_a_storm_a_launcher_that_is_answered_reports_again(world: World) -> None:
    load = launchers()
    world.requests()
    load.storm(0.0)
    world.end_of[load.everybody[0].link].sendall(ANSWER)
    load.hear(0.0)
    assert [(sender.node, len(sender.link.waiting)) for sender in load.senders] == [(0, 0)]
