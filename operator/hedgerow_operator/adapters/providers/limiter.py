"""Keeps us within a provider's documented limits: so many calls in a window, so many at a time, pauses it asks for."""

import asyncio
import math
from collections import deque
from weakref import WeakValueDictionary

from hedgerow_operator.adapters.providers.contract import ProviderError

_LEAST_PAUSE = 0.1


class Window:
    """At most ``count`` starts within any ``seconds``. Turns are given in order, each its own time."""

    def __init__(self, count: int, seconds: float) -> None:
        self._starts: deque[float] = deque(maxlen=count)
        self._seconds = seconds
        self._held_until = -math.inf

    def next_at(self, now: float) -> float:
        """When one more may start."""
        full = len(self._starts) == self._starts.maxlen
        earliest = self._starts[0] + self._seconds if full else -math.inf
        newest = self._starts[-1] if self._starts else -math.inf
        return max(now, earliest, newest, self._held_until)

    def take(self, now: float) -> float:
        """One more turn; the time at which it begins."""
        at = self.next_at(now)
        self._starts.append(at)
        return at

    def hold(self, until: float) -> None:
        """Nothing more starts before then: the provider has asked for a pause."""
        self._held_until = max(self._held_until, until)


class Limiter:
    """One kind of call to one provider. No window: only pauses count. concurrent: None: any number. watched: what is
    looked at by such calls again and again, so that each can be looked at less often.
    """

    def __init__(
        self, count: int | None = None, seconds: float = 10.0, concurrent: int | None = None, scale: float = 1.0
    ) -> None:
        # Without a limit the window is so short that it never keeps anybody.
        self._window = Window(count, seconds * scale) if count is not None else Window(1, 0.0)
        self._places = asyncio.Semaphore(concurrent) if concurrent is not None else None
        self._scale = scale
        self.watched = 0

    def turn(self, longest: float = math.inf) -> "Turn":
        """Waits for one; raises ProviderError when that takes longer than ``longest`` seconds."""
        return Turn(self, longest)

    async def enter(self, longest: float) -> None:
        """See turn."""
        now = asyncio.get_running_loop().time()
        wait = self._window.next_at(now) - now
        if wait > longest * self._scale:
            raise _busy(wait / self._scale)
        await self._place(longest * self._scale)
        try:
            await self._wait()
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """The turn is over."""
        if self._places is not None:
            self._places.release()

    async def _place(self, longest: float) -> None:
        if self._places is None:
            return
        try:
            async with asyncio.timeout(None if math.isinf(longest) else longest):
                await self._places.acquire()
        except TimeoutError:
            raise _busy(_LEAST_PAUSE) from None

    def hold(self, seconds: float) -> None:
        """Start nothing more for so long."""
        self._window.hold(asyncio.get_running_loop().time() + seconds * self._scale)

    async def _wait(self) -> None:
        now = asyncio.get_running_loop().time()
        at = self._window.take(now)
        if at > now:
            await asyncio.sleep(at - now)


class Turn:
    """To be entered once. No generator: each of those costs the loop as much as all else here."""

    def __init__(self, limiter: Limiter, longest: float) -> None:
        self._limiter, self._longest = limiter, longest

    async def __aenter__(self) -> None:
        await self._limiter.enter(self._longest)

    async def __aexit__(self, *how: object) -> None:
        self._limiter.leave()


class Limiters:
    """Those of one gateway: whoever asks the same place as the same account keeps its limits together. One that nobody
    uses is forgotten.
    """

    def __init__(self) -> None:
        self._made: WeakValueDictionary[tuple[object, ...], Limiter] = WeakValueDictionary()

    def of(
        self, whose: tuple[str, ...], count: int | None, seconds: float, concurrent: int | None, scale: float
    ) -> Limiter:
        """whose: the account, the place and the kind of call. With other limits it is another one."""
        key = (*whose, count, seconds, concurrent, scale)
        limiter = self._made.get(key)
        if limiter is None:
            limiter = self._made[key] = Limiter(count, seconds, concurrent, scale)
        return limiter


def _busy(seconds: float) -> ProviderError:
    pause = max(seconds, _LEAST_PAUSE)
    return ProviderError("its rate limit is used up for now", safe_to_retry=True, retry_after=pause)
