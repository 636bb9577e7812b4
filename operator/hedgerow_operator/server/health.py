"""Whether this process is fit to go on (/healthz) and to be sent reports (/readyz)."""

import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# A pass makes a handful of API calls, each with a timeout well below a minute.
STUCK_SECONDS = 300.0


class Health:
    """Follows reconcile passes. An idle process is healthy; one whose pass never ends is not."""

    def __init__(self, clock: Callable[[], float], stuck_seconds: float = STUCK_SECONDS) -> None:
        self._clock = clock
        self._stuck_seconds = stuck_seconds
        self._running: dict[object, float] = {}
        self.synced = False

    def watching(self, work: Callable[Parameters, Awaitable[Result]]) -> Callable[Parameters, Awaitable[Result]]:
        """``work``, with each of its runs followed from start to end."""

        @functools.wraps(work)
        async def followed(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            run = object()
            self._running[run] = self._clock()
            try:
                return await work(*args, **kwargs)
            finally:
                del self._running[run]

        return followed

    def trouble(self) -> str | None:
        """Why the process should be restarted, in one sentence, or None."""
        oldest = min(self._running.values(), default=None)
        if oldest is None or self._clock() - oldest <= self._stuck_seconds:
            return None
        return (
            f"a reconcile pass has been running for {self._clock() - oldest:.0f} s "
            f"(at most {self._stuck_seconds:.0f} s are normal)"
        )

    def not_ready(self) -> str | None:
        """Why reports should go elsewhere, in one sentence, or None. A warm standby is ready."""
        return None if self.synced else "the jobs have not been listed yet"
