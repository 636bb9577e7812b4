"""What this launcher knows of its attempt being current: its own answers, and the words of the other launchers."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

from hedgerow import fence, peers
from hedgerow.options import Options
from hedgerow.wire import Command


class Membership:
    """Membership of this launcher in the attempt that it runs. Times are CLOCK_BOOTTIME seconds."""

    def __init__(self, options: Options, address: str) -> None:
        self._options = options
        self._server = peers.PeerServer()
        host = "[%s]" % address if ":" in address else address
        self.address = "%s:%d" % (host, self._server.port)
        self._attempt = 0
        self._nonce = ""
        self._peers: Tuple[str, ...] = ()
        self._words: Dict[str, fence.PeerWord] = {}
        self._current_sent = 0.0
        self._asked = 0.0

    def serve(self) -> None:
        """Begin to answer the others."""
        self._server.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def join(self, start: Command, sent: float) -> None:
        """A new attempt begins; its ``start`` answered a request sent at ``sent``."""
        self._attempt = start.attempt
        self._nonce = start.nonce
        self._peers = tuple(peer for peer in start.peers if peer != self.address)
        self._words = {}
        self._current_sent = sent
        self._publish(True)

    def leave(self) -> None:
        """This launcher was told to stop, or stopped itself: it no longer vouches for the attempt."""
        self._publish(False)

    def confirm(self, attempt: int, sent: float) -> None:
        """The operator answered ``current`` for ``attempt`` to a request sent at ``sent``."""
        if attempt == self._attempt and sent > self._current_sent:
            self._current_sent = sent
            self._publish(self._server.standing.running)

    def too_old(self, sent: float, now: float) -> bool:
        """Whether an answer to a request sent at ``sent`` says nothing any more."""
        limit = self._options.fence_seconds
        return self._options.workers > 1 and limit > 0 and now - sent >= limit

    def decide(self, now: float) -> str:
        """What :func:`hedgerow.fence.decide` says."""
        options = self._options
        known = fence.Knowledge(
            self._attempt, options.workers, options.fence_seconds, self._current_sent, self._peers, self._words
        )
        return fence.decide(known, now)

    def ask(self, now: float, take: Callable[[str, fence.PeerWord], None]) -> None:
        """Ask the others, unless that was done a moment ago. ``take`` is called on other threads."""
        if now - self._asked >= peers.ASK_SECONDS:
            self._asked = now
            peers.ask(self._peers, self._attempt, self._nonce, take)

    def take(self, peer: str, word: fence.PeerWord) -> None:
        """A peer has answered."""
        before = self._words.get(peer)
        if word.answer.attempt == self._attempt and (before is None or word.asked > before.asked):
            self._words[peer] = word

    def _publish(self, running: bool) -> None:
        self._server.standing = peers.Standing(self._attempt, self._nonce, running, self._current_sent)
