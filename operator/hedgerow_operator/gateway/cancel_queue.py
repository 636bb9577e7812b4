"""Ends attempts that were given up, until it is proven that nothing of them runs, or nothing more can be done.

No answer waits for it. Calls to a provider keep within its limits (its adapter sees to that); here only so many of its
attempts are being ended at a time, and one that resists is tried again with longer and longer pauses between.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from hedgerow_operator.core.hedging.receipts import Evidence, Receipt

_log = logging.getLogger(__name__)
# More than any provider allows at a time (RunPod: 20), since many wait for evidence alone.
_AT_A_TIME = 64
_LONGEST_TRY_SECONDS = 60.0
_GRADES = tuple(Evidence)


class Patience(Struct, frozen=True, kw_only=True):
    """first, longest: pauses between tries, doubled each time. enough: seconds until it is given up as leaked: the
    longest that providers let a job run unless told otherwise (RunPod: 600 s).
    """

    first: float = 1.0
    longest: float = 60.0
    enough: float = 600.0


class Doomed(Struct, frozen=True, kw_only=True):
    """One attempt. lane: those that share a limit. end: asks for its end; may be called again. done: is told the best
    receipt, and after how many tries.
    """

    lane: str
    provider: str
    job_id: str
    end: Callable[[], Awaitable[Receipt]]
    done: Callable[[Receipt, int], None]


class CancelQueue:
    """Of one gateway."""

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._places: dict[str, asyncio.Semaphore] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, doomed: Doomed) -> None:
        """Nobody waits for it."""
        task = asyncio.get_running_loop().create_task(self._end(doomed))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def __len__(self) -> int:
        return len(self._tasks)

    async def drain(self, seconds: float) -> None:
        """Wait until all have ended, but no longer than this."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)

    async def close(self) -> None:
        """What has not ended is left to the next process, which finds it in the journal."""
        for task in set(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _end(self, doomed: Doomed) -> None:
        loop, pause = asyncio.get_running_loop(), self._patience.first
        places = self._places.setdefault(doomed.lane, asyncio.Semaphore(_AT_A_TIME))
        began, tries, best = loop.time(), 0, None
        while True:
            async with places:
                receipt = await _asked(doomed)
            tries, best = tries + 1, receipt if best is None else better(best, receipt)
            passed = loop.time() - began
            if not best.leaked or best.evidence is Evidence.CHANNEL_CLOSED or passed + pause > self._patience.enough:
                break
            await asyncio.sleep(pause)
            pause = min(self._patience.longest, pause * 2)
        doomed.done(told(best, tries, passed), tries)


async def _asked(doomed: Doomed) -> Receipt:
    """One try. An adapter never raises; if one does, that is no evidence."""
    try:
        async with asyncio.timeout(_LONGEST_TRY_SECONDS):
            return await doomed.end()
    except TimeoutError:
        note = f"nothing came of the cancel within {_LONGEST_TRY_SECONDS:.0f} s"
    except Exception as error:  # noqa: BLE001 - whatever an adapter does, there will be a receipt
        _log.exception("the cancel of %s at %s broke off", doomed.job_id, doomed.provider)
        note = f"the cancel broke off ({type(error).__name__}); see the gateway's log"
    return Receipt(provider=doomed.provider, job_id=doomed.job_id, note=note)


def better(one: Receipt, other: Receipt) -> Receipt:
    """The one that proves more; of two alike the newer, which is the second."""
    if one.leaked != other.leaked:
        return other if one.leaked else one
    return other if _GRADES.index(other.evidence) >= _GRADES.index(one.evidence) else one


def told(receipt: Receipt, tries: int, seconds: float) -> Receipt:
    """With what was tried, where it may run on."""
    if not receipt.leaked or tries < 2:
        return receipt
    tried = f"given up after {tries} tries in {seconds:.0f} s"
    return replace(receipt, note=f"{receipt.note}; {tried}" if receipt.note else tried)
