"""Requests with the same Idempotency-Key are made once: the others are given the same answer for ten minutes."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable

from hedgerow_operator.gateway.incoming import KEY, Incoming
from hedgerow_operator.gateway.reply import RefusedError, Reply

KEPT_SECONDS = 600.0
_MOST_KEYS = 10_000
_MOST_BYTES = 128 * 1024 * 1024
# A stream that is longer is not kept: a second request with its key is made anew.
MOST_KEPT_STREAM = 4 * 1024 * 1024


class Kept:
    """What one key stands for. reply: None: it is being made. until: when it is forgotten."""

    def __init__(self, digest: bytes) -> None:
        self.digest, self.until = digest, 0.0
        self.reply: Reply | None = None
        self.done = asyncio.Event()


class Once:
    """Of one endpoint; bounded. clock: seconds that never jump."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        # What is being answered stays however long it takes; what has been is let go, the oldest first.
        self._making: dict[str, Kept] = {}
        self._made: OrderedDict[str, Kept] = OrderedDict()
        self._bytes = 0

    async def begin(self, incoming: Incoming, *, wait: bool) -> Reply | None:
        """The answer that its key was given; None: it is to be made, and ``keep`` or ``forget`` called.

        wait: for the same request that is being made right now. Raises RefusedError.
        """
        digest = _digest(incoming)
        while True:
            self._forget_old()
            kept = self._making.get(incoming.key) or self._made.get(incoming.key)
            if kept is None:
                self._making[incoming.key] = Kept(digest)
                return None
            if kept.digest != digest:
                raise RefusedError(422, f"this {KEY} was used for another request; use a new key for each request")
            if kept.reply is not None:
                return kept.reply
            if not wait:
                raise RefusedError(409, f"the request with this {KEY} is being answered", retry_after=1.0)
            await kept.done.wait()

    def keep(self, key: str, reply: Reply) -> None:
        """It has been answered."""
        kept = self._making.pop(key, None)
        if kept is not None:
            kept.reply, kept.until = reply, self._clock() + KEPT_SECONDS
            self._made[key] = kept
            self._bytes += len(reply.body)
            kept.done.set()

    def forget(self, key: str) -> None:
        """It has not been answered: the next request with this key is made anew."""
        kept = self._making.pop(key, None) or self._made.pop(key, None)
        if kept is not None:
            self._bytes -= len(kept.reply.body) if kept.reply is not None else 0
            kept.done.set()

    def _forget_old(self) -> None:
        now, made = self._clock(), self._made
        while made:
            key = next(iter(made))
            full = len(made) >= _MOST_KEYS or self._bytes > _MOST_BYTES
            if not full and made[key].until > now:
                return
            self.forget(key)


def _digest(incoming: Incoming) -> bytes:
    what = f"{incoming.method} {incoming.path}\n".encode()
    return hashlib.sha256(what + incoming.body).digest()
