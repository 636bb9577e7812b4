"""One report on its way through the server, and the answer that its sender waits for."""

from collections.abc import Callable
from typing import Protocol

from hedgerow_operator.server.refusal import Refusal

# Of a JSON body, or what went wrong. Called at most once, and never after the sender has left.
Reply = Callable[[bytes | Refusal], None]


class Closable(Protocol):
    """Something that waits on behalf of a sender."""

    def close(self) -> None:
        """The sender has left."""


class Asked:
    """A report's sender. ``held``: what waits for it in the hub, to be closed when it leaves."""

    __slots__ = ("_reply", "held")

    def __init__(self, reply: Reply) -> None:
        self._reply: Reply | None = reply
        self.held: Closable | None = None

    @property
    def open(self) -> bool:
        """Whether the sender still waits."""
        return self._reply is not None

    def answer(self, what: bytes | Refusal) -> None:
        """The answer, or why there is none."""
        reply, self._reply, self.held = self._reply, None, None
        if reply is not None:
            reply(what)

    def leave(self) -> None:
        """The sender has left: nothing more is said to it."""
        held, self._reply, self.held = self.held, None, None
        if held is not None:
            held.close()
