"""What the server of the benchmark sees of itself, beside what its senders see: they share the processor with it."""

from __future__ import annotations

import gc
import time
from array import array
from typing import Any

from hedgerow.wire_agent import AGENT_REPORTS_PATH
from hedgerow_operator.server.asked import Asked, Reply
from hedgerow_operator.server.intake import Intake


class Inside:
    """How long agents' reports take from their body to their answer, which nobody holds; how long a collection of
    garbage takes at most, by the processor time of the thread."""

    def __init__(self) -> None:
        self._handling = array("f")
        self._longest = self._began = 0.0
        gc.callbacks.append(self._collected)

    def watch(self, intake: Intake) -> None:
        """From now on."""
        take = intake.take

        def timed(path: str, token: str | None, body: bytes, reply: Reply) -> Asked:
            if path != AGENT_REPORTS_PATH:
                return take(path, token, body, reply)
            came = time.perf_counter()

            def answered(what: Any) -> None:
                reply(what)
                self._handling.append(1000.0 * (time.perf_counter() - came))

            return take(path, token, body, answered)

        setattr(intake, "take", timed)  # noqa: B010  (a method is not to be replaced elsewhere)

    def tell(self) -> dict[str, float]:
        """Since it was asked last, in milliseconds."""
        ordered, longest = sorted(self._handling), self._longest
        self._handling, self._longest = array("f"), 0.0
        p99 = ordered[int(0.99 * (len(ordered) - 1))] if ordered else 0.0
        return {"handlingP99": p99, "garbage": longest}

    def _collected(self, phase: str, _info: dict[str, int]) -> None:
        now = 1000.0 * time.thread_time()
        if phase == "start":
            self._began = now
        else:
            self._longest = max(self._longest, now - self._began)
