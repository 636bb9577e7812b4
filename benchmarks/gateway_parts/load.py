"""Who asks: connections that each ask again as soon as they are answered, with as little work of their own as can be.

Run: python -m gateway_parts.load PORT PATH CONNECTIONS SECONDS whole|stream [REQUESTS A SECOND]; one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

_BODY = {"model": "m", "messages": [{"role": "user", "content": "Say what a hedge is. " * 8}]}


class Asker(asyncio.Protocol):
    """One connection. latencies, firsts: seconds until the end of each answer, and until its first content."""

    def __init__(self, request: bytes, until: float, latencies: list[float], firsts: list[float], pause: float) -> None:
        self._request, self._until, self._latencies, self._firsts = request, until, latencies, firsts
        self._pause = pause
        self.done = asyncio.get_running_loop().create_future()
        self.wrong = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._data, self._length, self._first = b"", -1, False
        self._asked = time.perf_counter()
        assert isinstance(self._transport, asyncio.Transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._first and b"word0" in self._data:
            self._first = True
            self._firsts.append(time.perf_counter() - self._asked)
        if not self._is_whole():
            return
        now = time.perf_counter()
        self._latencies.append(now - self._asked)
        self.wrong += not self._data.startswith(b"HTTP/1.1 200")
        if now >= self._until:
            self._transport.close()
            if not self.done.done():
                self.done.set_result(None)
        elif self._pause:
            asyncio.get_running_loop().call_later(max(0.0, self._pause - (now - self._asked)), self._ask)
        else:
            self._ask()

    def _is_whole(self) -> bool:
        if self._length < 0:
            end = self._data.find(b"\r\n\r\n")
            if end < 0:
                return False
            head = self._data[:end].lower()
            at = head.find(b"content-length:")
            self._length = end + 4 + int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        return len(self._data) >= self._length if self._length else self._data.endswith(b"\r\n0\r\n\r\n")

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.wrong += 1
            self.done.set_result(None)


async def _load(
    port: int, path: str, connections: int, seconds: float, stream: bool, rate: float
) -> dict[str, object]:
    body = json.dumps({**_BODY, "stream": True} if stream else _BODY).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    request = head.encode() + b"Content-Type: application/json\r\nAuthorization: Bearer sk-bench\r\n\r\n" + body
    loop, began = asyncio.get_running_loop(), time.perf_counter()
    latencies: list[float] = []
    firsts: list[float] = []
    pause = connections / rate if rate else 0.0
    askers = []
    for number in range(connections):
        if pause:
            await asyncio.sleep(pause / connections if number else 0)
        _, asker = await loop.create_connection(
            lambda: Asker(request, began + seconds, latencies, firsts, pause), "127.0.0.1", port
        )
        askers.append(asker)
    await asyncio.wait([asker.done for asker in askers], timeout=seconds + 10)
    return {"latencies": latencies, "firsts": firsts, "seconds": time.perf_counter() - began,
            "wrong": sum(asker.wrong for asker in askers)}


if __name__ == "__main__":
    _port, _path, _connections, _seconds, _kind, _rate = (*sys.argv[1:], "0")[:6]
    found = asyncio.run(
        _load(int(_port), _path, int(_connections), float(_seconds), _kind == "stream", float(_rate))
    )
    print(json.dumps(found), flush=True)
