"""Messages with descriptors between the tasks of one node: JSON objects over a unix socket.

The address is an abstract one, which needs no folder and is gone with the process; both ends ask the kernel who the
other is, since anybody on the machine could listen there or call.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from typing import Any, Dict, List, Sequence, Tuple

_LENGTH = struct.Struct("!Q")
# A process may have 128 KiB of variables for each word and megabytes in all (execve(2)).
_LONGEST = 64 << 20
_MOST_DESCRIPTORS = 2
_CREDENTIALS = struct.Struct("3i")

Message = Dict[str, Any]


class Closed(Exception):
    """The other end has gone."""


class Channel:
    """One connection. Any thread may send a whole message; one reads."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        sock.setblocking(True)

    def fileno(self) -> int:
        """For a selector."""
        return self._sock.fileno()

    @property
    def peer(self) -> Tuple[int, int]:
        """Process and user at the other end, by the kernel's word."""
        found = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, user, _group = _CREDENTIALS.unpack(found)
        return pid, user

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Raises Closed."""
        data = json.dumps(message).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            # The descriptors come with the first byte; what is so short goes out whole.
            self._sock.sendmsg([_LENGTH.pack(len(data))], rights)
            self._sock.sendall(data)
        except OSError:
            raise Closed from None

    def receive(self) -> Tuple[Message, List[int]]:
        """The next message, and copies of the descriptors that came with it. Raises Closed."""
        space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
        try:
            head, rights, _flags, _address = self._sock.recvmsg(_LENGTH.size, space, socket.MSG_CMSG_CLOEXEC)
            descriptors = [number for right in rights for number in array.array("i", right[2])]
            head += self._exactly(_LENGTH.size - len(head)) if head else b""
            length = _LENGTH.unpack(head)[0] if head else 0
            if not 0 < length < _LONGEST:
                raise Closed
            message = json.loads(self._exactly(length).decode())
        except (OSError, ValueError, struct.error):
            raise Closed from None
        return message, descriptors

    def close(self) -> None:
        """Let the other end see that this one is gone."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._sock.close()

    def _exactly(self, length: int) -> bytes:
        pieces = []
        while length > 0:
            piece = self._sock.recv(min(length, 1 << 20))
            if not piece:
                raise Closed
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)


def listen(name: str) -> socket.socket:
    """Begin to listen at an abstract address. OSError: somebody does already."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind("\0" + name)
        sock.listen(128)
    except OSError:
        sock.close()
        raise
    return sock


def connect(name: str) -> Channel:
    """A channel to who listens there. OSError: nobody does, or it is another user."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.connect("\0" + name)
    except OSError:
        sock.close()
        raise
    channel = Channel(sock)
    if channel.peer[1] != os.geteuid():
        channel.close()
        raise PermissionError("another user listens there")
    return channel
