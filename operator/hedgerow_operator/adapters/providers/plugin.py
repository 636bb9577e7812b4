"""A provider that somebody else has written: one class of four methods, by an entry point.

    class Mine:                                    # [project.entry-points."hedgerow.providers"]  mine = "package:Mine"
        def __init__(self, options, secrets): ...  # both mappings of text
        def submit(self, request): ...             # decoded JSON → the job's id
        def status(self, job): ...                 # "Queued", "Running", "Unknown", "Valid", "Failed" or "Cancelled"
        def result(self, job): ...                 # the output
        def cancel(self, job): ...                 # asks for its end

Each may be a coroutine; those that are not run in a thread. What they raise is the failure, in its own words.
"""

import asyncio
import inspect
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from hedgerow_operator.adapters.providers.contract import Answer, Call, Health, ProviderError
from hedgerow_operator.adapters.providers.job_api import Look, Taken
from hedgerow_operator.adapters.providers.jobs import JobAttempt, Jobs
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import scrubbed
from hedgerow_operator.adapters.providers.values import decoded, words
from hedgerow_operator.core.hedging.receipts import Receipt
from hedgerow_operator.core.hedging.seen import AttemptState

GROUP = "hedgerow.providers"
METHODS = ("submit", "status", "result", "cancel")
# A method that hangs must not hold an attempt for ever.
_METHOD_SECONDS = 60.0


class Plugin:
    """kind: the class itself; where it is not given, the entry point ``entry`` names it. Raises ValueError."""

    shows_start = True
    free_in_queue = False
    can_stream = False
    ends_when_acknowledged = False
    looks_per_second: float | None = None

    def __init__(self, setup: Setup, entry: str, options: Mapping[str, str], *, kind: Any = None) -> None:
        self.name, self.setup, self._entry = setup.name, setup, entry
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self._theirs = _made(entry, kind or loaded(entry), options, setup)
        self._jobs = Jobs(self)

    async def submit(self, call: Call) -> JobAttempt:
        """See Provider."""
        return await self._jobs.submit(call)

    async def recover(self, job_id: str) -> Receipt:
        """See Provider."""
        return await self._jobs.recover(job_id)

    async def health(self) -> Health:
        """Plugins are not asked for it."""
        return Health(ok=True)

    async def set_warm(self, workers: int) -> bool:
        """There is no such knob."""
        return False

    async def close(self) -> None:
        """See Provider."""

    async def begin(self, call: Call) -> Taken:
        """See JobApi."""
        try:
            request = decoded(call.body or b"{}")
        except ValueError as error:
            raise ProviderError(f"the request's input is {error}", safe_to_retry=True) from None
        job = await self._call("submit", request)
        if not isinstance(job, str) or not job:
            raise ProviderError(f"submit of the plugin {self._entry} gave no id")
        return Taken(job_id=job)

    async def look(self, job_id: str) -> Look:
        """See JobApi."""
        said = await self._call("status", job_id)
        state = next((one for one in AttemptState if one == said and one is not AttemptState.INVALID), None)
        if state is None:
            raise ProviderError(f"status of the plugin {self._entry} gave {words(str(said))}, which is no state")
        if state is not AttemptState.VALID:
            return Look(state=state, status=state)
        return Look(state=state, status=state, answer=Answer(status=200, output=await self._call("result", job_id)))

    async def stop(self, job_id: str) -> None:
        """See JobApi."""
        await self._call("cancel", job_id)

    async def _call(self, name: str, given: Any) -> Any:
        method = getattr(self._theirs, name)
        try:
            async with asyncio.timeout(_METHOD_SECONDS * self.setup.scale):
                if inspect.iscoroutinefunction(method):
                    return await method(given)
                return await asyncio.to_thread(method, given)
        except ProviderError:
            raise
        except TimeoutError:
            raise ProviderError(f"{name} of the plugin {self._entry} took longer than it may") from None
        except Exception as error:  # noqa: BLE001  (others' code may raise anything)
            said = scrubbed(words(str(error)), self.setup.secrets.values())
            raise ProviderError(f"{name} of the plugin {self._entry}: {type(error).__name__} {said}".strip()) from None


def loaded(entry: str) -> Any:
    """The class. Raises ValueError in a sentence."""
    found = list(entry_points(group=GROUP, name=entry))
    if not found:
        known = ", ".join(sorted(one.name for one in entry_points(group=GROUP))) or "none"
        raise ValueError(f"no provider plugin is called {entry!r} here (installed: {known})")
    try:
        return found[0].load()
    except Exception as error:  # noqa: BLE001  (others' code may raise anything)
        raise ValueError(f"the provider plugin {entry!r} cannot be loaded ({type(error).__name__}: {error})") from None


def _made(entry: str, kind: Any, options: Mapping[str, str], setup: Setup) -> Any:
    missing = [name for name in METHODS if not callable(getattr(kind, name, None))]
    if missing:
        raise ValueError(f"the provider plugin {entry!r} has no {' and no '.join(missing)}")
    try:
        return kind(dict(options), dict(setup.secrets))
    except Exception as error:  # noqa: BLE001  (others' code may raise anything)
        said = scrubbed(words(str(error)), setup.secrets.values())
        raise ValueError(f"the provider plugin {entry!r} cannot begin ({type(error).__name__}: {said})") from None
