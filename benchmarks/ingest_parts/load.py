"""A process that plays many launchers and agents, each at its own times, whatever the server does (open loop).

``python -m ingest_parts.load`` reads a plan as JSON from standard input and prints what it measured. A report's latency
counts from when it was to be sent, not from when it could be. Of a launcher's, whose answer the server holds, the time
that it is meant to be held is taken off; in calm, where the server chooses that by itself, the agents' alone count,
which come the same way, and of launchers how soon a command reaches them.
"""

from __future__ import annotations

import gc
import heapq
import json
import resource
import select
import socket
import sys
import time
from typing import Any

from hedgerow.wire import REPORTS_PATH
from hedgerow.wire_agent import AGENT_REPORTS_PATH
from ingest_parts.bodies import FIRST, agent_body, agent_token, launcher_body, launcher_token, request

SPACING_SECONDS = 0.2  # hedgerow.reporter.SPACING_SECONDS
QUIET_SECONDS = 1.5  # at the end of a storm, so that what was sent last can be heard
_INTERVAL = b'"interval_seconds":'
_SOURCES = 32  # addresses on loopback to connect from: each has ports of its own


def hold_of(period: float) -> float:
    """How long the answer is held of one that reports every ``period`` seconds by its own clock, whatever it hears."""
    return 0.96 * period - 0.02


class Sender:
    """One launcher or agent: when it sends, and what it waits for."""

    __slots__ = (
        "asked", "due", "held", "link", "node", "number", "parts", "path", "period", "sent", "token", "workers"
    )  # fmt: skip

    def __init__(self, node: int, workers: int, due: float, link: Link, held: bool) -> None:
        self.node, self.workers, self.due, self.link, self.held = node, workers, due, link, held
        self.path = REPORTS_PATH if held else AGENT_REPORTS_PATH
        self.token = launcher_token(node) if held else agent_token(node)
        self.parts = launcher_body(node, workers) if held else agent_body(node)
        self.number, self.sent = FIRST, 0.0
        self.period = self.asked = 0.0

    def __lt__(self, other: Sender) -> bool:
        return self.due < other.due


class Link:
    """A connection that is kept. waiting: when each of the requests on it was due, and whose it is."""

    __slots__ = ("data", "number", "out", "sender", "sock", "waiting")

    def __init__(self, number: int) -> None:
        self.number = number
        self.sock: socket.socket | None = None
        self.data, self.out = b"", b""
        self.waiting: list[tuple[float, Sender]] = []
        self.sender: Sender | None = None

    def connect(self, port: int) -> socket.socket:
        """From one of several addresses, so that ports do not run out."""
        self.sock = socket.socket()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        self.sock.bind((f"127.0.1.{1 + self.number % _SOURCES}", 0))
        self.sock.settimeout(30.0)
        self.sock.connect(("127.0.0.1", port))
        self.sock.setblocking(False)
        return self.sock


class Load:
    """Sends by the clock and notes how long answers took."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.period = plan["period"]
        self.commands: dict[str, float] = {}
        self.poll = select.epoll()
        self.links: dict[int, Link] = {}
        self.latencies: list[float] = []
        self.statuses: dict[str, int] = {}
        self.sent = self.answered = 0
        self.spread = 0.0
        self.begin = time.monotonic()
        self.warm = self.begin + plan["warm"]
        self.senders = self._make()
        self.everybody = tuple(self.senders)

    def _make(self) -> list[Sender]:
        plan, senders = self.plan, []
        shared = [Link(number) for number in range(plan["agentLinks"])]
        nodes = range(plan["first"], plan["first"] + plan["nodes"])
        for order, node in enumerate(nodes):
            share = (order + 0.5 * (plan["first"] > 0)) / plan["nodes"]
            if plan["launchers"]:
                senders.append(Sender(node, plan["workers"][order], share * plan["ramp"], Link(node), held=True))
            if plan["agents"]:
                late = share + 0.37 if share < 0.63 else share - 0.63
                senders.append(Sender(node, 0, late * plan["ramp"], shared[order % len(shared)], held=False))
        for sender in senders:
            sender.period = self.period
            if sender.held and plan["obey"]:
                sender.link.sender = sender  # reports again as soon as it is answered, as ours do in calm
        return senders

    def run(self, seconds: float) -> None:
        """Send and hear for so long."""
        self.begin = time.monotonic()
        self.warm, end = self.begin + self.plan["warm"], self.begin + seconds
        for sender in self.senders:
            sender.due += self.begin
        heapq.heapify(self.senders)
        while (now := time.monotonic()) < end:
            while self.senders and self.senders[0].due <= now:
                sender = heapq.heappop(self.senders)
                self._send(sender)
                if sender.link.sender is None:
                    sender.due += sender.period
                    heapq.heappush(self.senders, sender)
            self.hear(max(0.0, min(self.senders[0].due if self.senders else end, end) - time.monotonic()))

    def _send(self, sender: Sender) -> None:
        sender.number += 1
        sender.sent = time.monotonic()
        self.sent += 1
        sender.link.waiting.append((sender.due, sender))
        self._write(sender.link, request(sender.path, sender.token, sender.parts, sender.number))

    def _write(self, link: Link, data: bytes) -> None:
        if link.out:
            link.out += data
            return
        sock = link.sock
        if sock is None:
            sock = link.connect(self.plan["port"])
            self.links[sock.fileno()] = link
            self.poll.register(sock, select.EPOLLIN)
        try:
            sent = sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._lose(link)
            return
        if sent < len(data):
            link.out = data[sent:]
            self.poll.modify(sock, select.EPOLLIN | select.EPOLLOUT)

    def hear(self, seconds: float) -> None:
        """Take what comes within so long, and send what could not be sent before."""
        for number, event in self.poll.poll(seconds):
            link = self.links[number]
            if link.sock is not None and event & select.EPOLLOUT:
                data, link.out = link.out, b""
                self.poll.modify(link.sock, select.EPOLLIN)
                self._write(link, data)
            if link.sock is not None and event & ~select.EPOLLOUT:
                self._read(link, link.sock)

    def _lose(self, link: Link) -> None:
        """The server has closed it; the next report goes by another."""
        assert link.sock is not None
        self._count("closed")
        self.poll.unregister(link.sock)
        link.sock.close()
        link.sock, link.data, link.out, link.waiting = None, b"", b"", []

    def _read(self, link: Link, sock: socket.socket) -> None:
        try:
            data = sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose(link)
            return
        link.data += data
        while (end := link.data.find(b"\r\n\r\n")) >= 0:
            head = link.data[:end].lower()
            begin = head.index(b"content-length:") + 15
            length = int(head[begin:].split(b"\r\n", 1)[0])
            if len(link.data) < end + 4 + length:
                return
            body = link.data[end + 4 : end + 4 + length]
            link.data = link.data[end + 4 + length :]
            self._count(head[9:12].decode())
            due, sender = link.waiting.pop(0)
            self.answered += 1
            self._note(sender, due, body)
            if link.sender is not None:
                link.sender.due = max(time.monotonic(), link.sender.sent + SPACING_SECONDS)
                heapq.heappush(self.senders, link.sender)

    def _note(self, sender: Sender, due: float, body: bytes) -> None:
        """How long the answer took, what it asks for, and when the command in it was given."""
        now = time.monotonic()
        begin = body.find(_INTERVAL)
        asked = float(body[begin + len(_INTERVAL) :].split(b",", 1)[0].rstrip(b"}")) if begin >= 0 else 0.0
        if b'"kind":"dump"' in body and sender.held:
            for command in json.loads(body)["commands"]:
                if command["reason"].startswith("given "):
                    self.commands.setdefault(command["reason"], now - float(command["reason"][6:]))
        elif due >= self.warm and not sender.held:
            self.latencies.append(now - due)
        elif due >= self.warm and not self.plan["obey"]:
            # An answer that brings news is not held.
            hold = self.plan["hold"] if now - due > 0.5 * self.plan["hold"] else 0.0
            self.latencies.append(max(0.0, now - due - hold))
        sender.asked = asked
        if self.plan["obey"] and asked:
            sender.period = asked

    def _count(self, status: str) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def storm(self, seconds: float) -> None:
        """All at once have something unusual to say: launchers on a second connection, as ours do, agents on theirs.

        From then on a launcher reports again as soon as it is answered, but not within SPACING_SECONDS.
        """
        began = time.monotonic()
        self.senders, senders = [], self.everybody
        for sender in senders:
            if sender.held:
                sender.link.sender = None  # its answer comes, and is not waited for
            body = launcher_body if sender.held else agent_body
            sender.parts = body(sender.node, *((sender.workers,) if sender.held else ()), still=True)
        self.begin = time.monotonic()
        for number, sender in enumerate(senders):
            if sender.held:
                sender.link = Link(number)
                sender.link.sender = sender
            self._send(sender)
            self.hear(0.0)
        self.spread = time.monotonic() - self.begin
        end = began + seconds
        while (now := time.monotonic()) < end:
            while self.senders and self.senders[0].due <= now < end - QUIET_SECONDS:
                self._send(heapq.heappop(self.senders))
            self.hear(max(0.005, min(self.senders[0].due if self.senders else end, end, now + 0.1) - now))

    def told(self) -> dict[str, Any]:
        """What was measured."""
        return {"sent": self.sent, "answered": self.answered, "statuses": self.statuses,
                "latencies": [round(1000 * one, 3) for one in self.latencies],
                "commands": [round(1000 * one, 3) for one in self.commands.values()],
                "asked": max((sender.asked for sender in self.everybody), default=0.0),
                "spread": round(self.spread, 2), "sum": sum(sender.number - FIRST for sender in self.everybody)}


def main() -> None:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    plan = json.loads(sys.stdin.readline())
    load = Load(plan)
    print(json.dumps({"ready": len(load.senders)}), flush=True)
    sys.stdin.readline()
    gc.freeze()
    gc.disable()
    load.run(plan["seconds"])
    if plan["storm"]:
        print(json.dumps(load.told()), flush=True)
        load.latencies, load.statuses = [], {}
        load.storm(plan["storm"])
    print(json.dumps(load.told()), flush=True)
    # What a sender that ends has sent may be dropped unread: they stay until the server was asked what it has heard.
    while True:
        load.hear(1.0)


if __name__ == "__main__":
    main()
