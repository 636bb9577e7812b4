"""Calls that may never return, each kind on a thread of its own, so that nobody waits for them for ever."""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """How a call ended: ``error`` is None when ``value`` holds."""

    value: Any
    error: Exception | None


class Bounded:
    """One daemon thread that runs one call at a time. A call that hangs keeps only this thread: none is added to it."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._changed = threading.Condition()
        self._call: Callable[[], Any] | None = None
        self._outcome: Outcome | None = None
        self._begun: float | None = None
        self._ended = False
        self._thread: threading.Thread | None = None

    def start(self, call: Callable[[], Any]) -> bool:
        """Run ``call``; False while the one before is not over. An outcome that nobody took is forgotten."""
        with self._changed:
            if self._begun is not None:
                return False
            self._call, self._outcome, self._begun = call, None, self._clock()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return True

    def take(self, wait_seconds: float = 0.0) -> Outcome | None:
        """The outcome of the last call, once; None while there is none."""
        with self._changed:
            if wait_seconds > 0:
                self._changed.wait_for(lambda: self._outcome is not None or self._begun is None, wait_seconds)
            outcome, self._outcome = self._outcome, None
            return outcome

    def busy_seconds(self) -> float:
        """How long the call that runs has been running; 0 when none does."""
        with self._changed:
            return 0.0 if self._begun is None else self._clock() - self._begun

    def end(self) -> None:
        """Let the thread end as soon as its call is over."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while self._call is None and not self._ended:
                    self._changed.wait()
                if self._call is None:
                    return
                call, self._call = self._call, None
            outcome = _run(call)
            with self._changed:
                self._outcome, self._begun = outcome, None
                self._changed.notify_all()


def _run(call: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(call(), None)
    except Exception as error:  # noqa: BLE001 (whatever it is, the one who asked decides)
        return Outcome(None, error)
