"""The server behind every proxy: a chat completion at once, whole or as a stream; every nth only after a while.

Run: python -m gateway_parts.upstream [slow share] [slow seconds]. Its port is the first line that it prints.
"""

from __future__ import annotations

import asyncio
import json
import sys

WORDS = 20
_MESSAGE = {"role": "assistant", "content": "A hedge is a fence that lives. " * 16}
_WHOLE = json.dumps({
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 8, "completion_tokens": 128, "total_tokens": 136},
}).encode()
_ANSWER = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_WHOLE)) + _WHOLE


def _event(delta: dict[str, str], last: bool) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": "stop" if last else None}
    found = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return _chunk(b"data: " + json.dumps(found).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_EVENTS = [_event({"role": "assistant", "content": ""}, False)]
_EVENTS += [_event({"content": f"word{number} "}, number == WORDS - 1) for number in range(WORDS)]
_EVENTS += [_chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"]


class Upstream(asyncio.Protocol):
    """One connection; requests one after another. asked: of all connections."""

    asked = 0
    slow_every, slow_seconds = 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._data = transport, b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        while True:
            head_end = self._data.find(b"\r\n\r\n")
            if head_end < 0:
                return
            length = _length(self._data[:head_end])
            if len(self._data) < head_end + 4 + length:
                return
            body, self._data = self._data[head_end + 4 : head_end + 4 + length], self._data[head_end + 4 + length :]
            Upstream.asked += 1
            if self.slow_every and Upstream.asked % self.slow_every == 0:
                asyncio.get_running_loop().call_later(self.slow_seconds, self._answer, body)
            else:
                self._answer(body)

    def _answer(self, body: bytes) -> None:
        transport = self._transport
        assert isinstance(transport, asyncio.Transport)
        if transport.is_closing():
            return
        if b'"stream":true' not in body.replace(b" ", b""):
            transport.write(_ANSWER)
            return
        transport.write(_HEAD)
        for event in _EVENTS:
            transport.write(event)


def _length(head: bytes) -> int:
    at = head.lower().find(b"content-length:")
    return int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        Upstream.slow_every, Upstream.slow_seconds = round(1 / float(sys.argv[1])), float(sys.argv[2])
    asyncio.run(_serve())
