"""Ending one job: told to stop, then looked at until it is seen to have ended, or until that makes no sense."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.adapters.providers.ending import Ending
from hedgerow_operator.adapters.providers.job_api import JobApi, Look
from hedgerow_operator.adapters.providers.troubles import Trouble
from hedgerow_operator.core.hedging.receipts import Evidence, Receipt, Scope

# GPUHedge saw RunPod's jobs end within 0.3 s of the cancel; it gave them 20 s, as here.
_LONGEST_SECONDS = 20.0
_FIRST_LOOK, _LAST_LOOK, _GROWTH = 0.2, 1.0, 1.5
_RETRY_SECONDS = 1.0
_TRIES = 4
_UNKNOWN_JOB = frozenset({404, 410})
# The provider says that the state of the job does not allow it: it has ended, or it cannot be stopped.
_TOO_LATE = frozenset({400, 409, 422})


async def end_job(
    api: JobApi,
    ending: Ending,
    seen: Look | None,
    ran: Callable[[Look | None], float | None] = lambda look: None if look is None else look.execution_seconds,
) -> Receipt:
    """seen: the newest look, None: none. ran: how long a worker ran, by the newest look. Never raises ProviderError."""
    if seen is not None and seen.ended and seen.status:
        return _terminal(ending.receipt(ran(seen)), seen, ending, acknowledged=None)
    note = await _told(api, ending)
    acknowledged = None if note else ending.passed
    look = await _watched(api, ending, patient=not note)
    if look is not None and look.ended and look.status:
        return _terminal(ending.receipt(ran(look)), look, ending, acknowledged=acknowledged)
    receipt = replace(ending.receipt(ran(look)), acknowledged_after=acknowledged, scope=_scope(ending))
    if acknowledged is None:
        return replace(receipt, note=note)
    if api.ends_when_acknowledged:
        return replace(receipt, evidence=Evidence.ACKNOWLEDGED, leaked=False)
    shown = look.status if look is not None else "nothing"
    return replace(
        receipt,
        evidence=Evidence.ACKNOWLEDGED,
        note=f"it took the cancel, and {ending.passed:.0f} s later shows {shown}",
    )


async def _told(api: JobApi, ending: Ending) -> str:
    """Tell it to stop; empty when it took that, else why not."""
    note = ""
    for attempt in range(_TRIES):
        try:
            await api.stop(ending.job_id)
            return ""
        except ProviderError as error:
            note, status = str(error), error.status if isinstance(error, Trouble) else 0
            wait = error.retry_after if error.retry_after is not None else _RETRY_SECONDS * (attempt + 1)
            final = error.credentials or status in _UNKNOWN_JOB | _TOO_LATE
            if final or ending.passed + wait > _LONGEST_SECONDS:
                return note
        await asyncio.sleep(wait * ending.setup.scale)
    return note


async def _watched(api: JobApi, ending: Ending, *, patient: bool) -> Look | None:
    """The look that shows its end, else the newest; without patience one look is enough."""
    newest, pause = None, _FIRST_LOOK
    # Its turn may have come late; the time that the job is given begins after that.
    last = ending.passed + _LONGEST_SECONDS
    while True:
        try:
            newest = await api.look(ending.job_id)
        except ProviderError as error:
            if error.credentials or (isinstance(error, Trouble) and error.status in _UNKNOWN_JOB):
                return newest
        if (newest is not None and newest.ended) or not patient or ending.passed + pause > last:
            return newest
        await asyncio.sleep(pause * ending.setup.scale)
        pause = min(_LAST_LOOK, pause * _GROWTH)


def _terminal(receipt: Receipt, look: Look, ending: Ending, *, acknowledged: float | None) -> Receipt:
    return replace(
        receipt,
        evidence=Evidence.TERMINAL,
        scope=_scope(ending),
        acknowledged_after=acknowledged,
        terminal_after=ending.passed,
        terminal_status=look.status,
        leaked=False,
    )


def _scope(ending: Ending) -> Scope:
    return Scope.QUEUED_JOB if ending.was_running is False else Scope.REQUEST
