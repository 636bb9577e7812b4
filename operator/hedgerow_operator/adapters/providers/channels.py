"""Attempts at providers that answer on the connection by which they are asked: its end is all that can be done."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from uuid import uuid4

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import OUR_NAMES, ProviderError, Update
from hedgerow_operator.adapters.providers.ending import Ending
from hedgerow_operator.adapters.providers.limiter import Limiter
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Trouble
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt, Scope
from hedgerow_operator.core.hedging.seen import AttemptState

_ENDED = frozenset({AttemptState.VALID, AttemptState.FAILED})
# Where a provider refuses for its rate without saying for how long.
_PAUSE_SECONDS = 1.0
# A request that cannot begin soon is better made elsewhere.
LONGEST_WAIT = 1.0


def own_name() -> str:
    """Of an attempt that its provider calls nothing."""
    return f"{OUR_NAMES}{uuid4().hex}"


class ChannelAttempt:
    """talk: the conversation with the provider, which yields updates and may raise ProviderError; it begins at once.
    After an answer with chunks it goes on until they are read. See Attempt.
    """

    def __init__(self, setup: Setup, job_id: str, talk: AsyncGenerator[Update, None]) -> None:
        self.job_id = job_id
        self._setup = setup
        self._updates: asyncio.Queue[Update | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._seen: Update | None = None
        self._task = self._loop.create_task(self._drive(talk))

    def updates(self) -> AsyncIterator[Update]:
        """See Attempt."""
        return Updates(self._updates)

    async def cancel(self) -> Receipt:
        """See Attempt."""
        ending = Ending(self._setup, self.job_id, free_in_queue=False, was_running=self.was_running)
        seen, talking = self._seen, not self._task.done()
        await self.hang_up()
        receipt = replace(ending.receipt(self.ran), scope=Scope.REQUEST)
        if not talking and seen is not None and _is_over(seen):
            status = "answered" if seen.state is AttemptState.VALID else "refused"
            return replace(
                receipt, evidence=Evidence.TERMINAL, terminal_status=status, terminal_after=0.0, leaked=False
            )
        return replace(
            receipt,
            evidence=Evidence.CHANNEL_CLOSED,
            leaked=not self._setup.stops_on_disconnect,
            note=""
            if self._setup.stops_on_disconnect
            else "the connection is closed; whether the work ended is not shown",
        )

    async def hang_up(self) -> None:
        """End the conversation, whatever it is at."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def until_closed(self, seconds: float) -> bool:
        """Whether the other side has ended the conversation within so long."""
        done, _waiting = await asyncio.wait([self._task], timeout=seconds * self._setup.scale)
        return bool(done)

    @property
    def over(self) -> bool:
        """The conversation has ended."""
        return self._task.done()

    @property
    def was_running(self) -> bool | None:
        """As far as the provider has shown."""
        state = self._seen.state if self._seen is not None else AttemptState.UNKNOWN
        return {AttemptState.QUEUED: False, AttemptState.UNKNOWN: None}.get(state, True)

    @property
    def ran(self) -> float:
        """At most so long a worker was busy, in seconds."""
        return (self._loop.time() - self._began) / self._setup.scale

    async def _drive(self, talk: AsyncGenerator[Update, None]) -> None:
        try:
            async for update in talk:
                self._show(update)
        except ProviderError as error:
            self._show(Update(state=AttemptState.FAILED, error=error))
        except Exception as error:  # noqa: BLE001  (what others answer must never end a gateway)
            trouble = ProviderError(f"what {self._setup.name} answered cannot be understood ({type(error).__name__})")
            self._show(Update(state=AttemptState.FAILED, error=trouble))
        finally:
            await talk.aclose()
            if self._seen is None or self._seen.state not in _ENDED:
                self._show(Update(state=AttemptState.FAILED, error=ProviderError("it was cancelled")))
            self._updates.put_nowait(None)

    def _show(self, update: Update) -> None:
        if self._seen is not None and self._seen.state in {*_ENDED, update.state}:
            return
        self._seen = update
        self._updates.put_nowait(update)


class Updates:
    """Until there is none. No generator: one that is left before its end costs a task."""

    def __init__(self, queue: "asyncio.Queue[Update | None]") -> None:
        self._queue = queue

    def __aiter__(self) -> AsyncIterator[Update]:
        return self

    async def __anext__(self) -> Update:
        update = await self._queue.get()
        if update is None:
            raise StopAsyncIteration
        return update


async def within(limiter: Limiter, talk: AsyncGenerator[Update, None]) -> AsyncGenerator[Update, None]:
    """The conversation, in its turn; a rate limit that it meets keeps the next ones waiting."""
    async with limiter.turn(LONGEST_WAIT):
        try:
            async for update in talk:
                _heed(limiter, update.error)
                yield update
        except Trouble as error:
            _heed(limiter, error)
            raise
        finally:
            await talk.aclose()


def _heed(limiter: Limiter, error: ProviderError | None) -> None:
    if isinstance(error, Trouble) and error.status == 429:
        limiter.hold(_PAUSE_SECONDS if error.retry_after is None else error.retry_after)


def _is_over(seen: Update) -> bool:
    """It has answered whole, or it never began."""
    return seen.state is AttemptState.VALID or (seen.error is not None and seen.error.safe_to_retry)
