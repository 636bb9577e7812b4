"""An all-reduce over TCP: sums go up a binary tree of ranks, the total comes back down."""

import json
import operator
import os
import socket
import struct
import time


class Gang:
    """All ranks of one attempt, connected. Rank r's parent is (r - 1) // 2; rank 0 listens on MASTER_PORT."""

    def __init__(self, connect_seconds=60.0):
        self.rank = int(os.environ["RANK"])
        self.size = int(os.environ["WORLD_SIZE"])
        self._master = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        self._deadline = time.monotonic() + connect_seconds
        self._children = []
        self._parent = None
        if self.size > 1:
            self._gather() if self.rank == 0 else self._join()

    def all_reduce(self, values):
        """The sums of every rank's ``values``, position by position. Waits until every rank has come."""
        total = list(values)
        for child in self._children:
            total = list(map(operator.add, total, _receive(child)))
        if self._parent is not None:
            _send(self._parent, total)
            total = _receive(self._parent)
        for child in self._children:
            _send(child, total)
        return total

    def _gather(self):
        """Rank 0: hear where every rank listens, tell each its parent's address, keep its own two children."""
        calls = {}
        with socket.create_server(("", self._master[1])) as listener:
            while len(calls) < self.size - 1:
                call, address = listener.accept()
                hello = _read_line(call)
                calls[hello["rank"]] = (call, [address[0], hello["port"]])
        for rank, (call, _) in calls.items():
            parent = (rank - 1) // 2
            call.sendall(json.dumps({"parent": calls[parent][1] if parent else None}).encode() + b"\n")
            if parent == 0:
                self._children.append(call)
            else:
                call.close()

    def _join(self):
        """Any other rank: say where it listens, then connect to its parent and take its children's calls."""
        with socket.create_server(("", 0)) as listener:
            call = self._connect(self._master)
            call.sendall(json.dumps({"rank": self.rank, "port": listener.getsockname()[1]}).encode() + b"\n")
            parent = _read_line(call)["parent"]
            self._parent = call if parent is None else self._connect(parent)
            children = [child for child in (2 * self.rank + 1, 2 * self.rank + 2) if child < self.size]
            self._children = [listener.accept()[0] for _ in children]

    def _connect(self, address):
        while True:
            try:
                return socket.create_connection(tuple(address))
            except OSError:
                if time.monotonic() > self._deadline:
                    raise
                time.sleep(0.05)


def _send(connection, values):
    connection.sendall(struct.pack(f"<I{len(values)}d", len(values), *values))


def _receive(connection):
    (count,) = struct.unpack("<I", _read(connection, 4))
    return struct.unpack(f"<{count}d", _read(connection, 8 * count))


def _read(connection, size):
    data = b""
    while len(data) < size:
        chunk = connection.recv(size - len(data))
        if not chunk:
            raise ConnectionError("another rank closed the connection")
        data += chunk
    return data


def _read_line(connection):
    line = b""
    while not line.endswith(b"\n"):
        line += _read(connection, 1)
    return json.loads(line.decode())
