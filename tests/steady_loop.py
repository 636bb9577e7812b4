"""An event loop whose time is what it has waited: what a busy machine takes from a test is no part of it."""

import asyncio
import selectors
import time
from collections.abc import Sequence


class SteadySelector(selectors.DefaultSelector):
    """passed: seconds waited for something to become ready, each wait at most as long as it was asked for.

    Client, gateway and providers of a test live in one loop: while they compute, or the machine runs somebody else,
    no deadline of theirs comes nearer.
    """

    passed = 0.0

    def select(self, timeout: float | None = None) -> Sequence[tuple[selectors.SelectorKey, int]]:
        """See selectors.BaseSelector.select."""
        began = time.monotonic()
        ready = super().select(timeout)
        waited = time.monotonic() - began
        self.passed += waited if timeout is None else min(waited, max(timeout, 0.0))
        return ready


class SteadyLoop(asyncio.SelectorEventLoop):
    """time() counts only the waiting; see SteadySelector."""

    def __init__(self) -> None:
        self._steady = SteadySelector()
        super().__init__(self._steady)

    def time(self) -> float:
        """Seconds that this loop has waited."""
        return self._steady.passed
