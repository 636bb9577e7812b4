"""See Provider. With ``beacon`` the function is our worker code (examples/providers), which streams."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.cerebrium.attempt import CerebriumAttempt
from hedgerow_operator.adapters.providers.cerebrium.runs import Runs
from hedgerow_operator.adapters.providers.channels import own_name, within
from hedgerow_operator.adapters.providers.connection import Connection, read_json
from hedgerow_operator.adapters.providers.contract import Answer, Call, Health, ProviderError, Update
from hedgerow_operator.adapters.providers.events import data_of
from hedgerow_operator.adapters.providers.exchange import Asked, Pieces, asked, judged, opened
from hedgerow_operator.adapters.providers.passthrough import bearer, joined, orphaned
from hedgerow_operator.adapters.providers.setup import Setup
from hedgerow_operator.adapters.providers.troubles import Reply
from hedgerow_operator.adapters.providers.values import decoded, mapping, seconds, words
from hedgerow_operator.core.hedging.receipts import Receipt
from hedgerow_operator.core.hedging.seen import AttemptState

REST = "https://rest.cerebrium.ai/v2"
_RUN_ID = "X-Request-Id"
_EVENTS = "text/event-stream"


class Cerebrium:
    """url: https://api.cerebrium.ai/v4/PROJECT/APP/FUNCTION. rest: of its management API. Secret: apiKey.

    beacon: the function yields {"hedgerow": "started"} when it begins, and {"hedgerow": "result", "result": …}.
    """

    free_in_queue = True
    can_stream = False

    def __init__(self, setup: Setup, url: str, *, rest: str = REST, runs_url: str = "", beacon: bool = False) -> None:
        self.name, self._setup, self._url, self._beacon = setup.name, setup, url.rstrip("/"), beacon
        self.shows_start = beacon
        self.usd_per_second, self.idle_billed_seconds = setup.usd_per_second, setup.idle_billed_seconds
        self._connection = Connection(setup, bearer(setup))
        self._runs = Runs(runs_url or _runs_url(rest, self._url), self._connection)
        self._limiter = setup.attempts(self._url)

    async def submit(self, call: Call) -> CerebriumAttempt:
        """See Provider."""
        one = asked(replace(call, stream=False), self.name, joined(self._url, call.path), self._setup.scale)
        headers = {"Content-Type": "application/json", **one.headers}
        if self._beacon:
            headers["Accept"] = _EVENTS
        told: list[CerebriumAttempt] = []
        talk = within(self._limiter, self._talk(replace(one, headers=headers), told))
        attempt = CerebriumAttempt(self._setup, own_name(), talk, self._runs)
        told.append(attempt)
        return attempt

    async def recover(self, job_id: str) -> Receipt:
        """See Provider. Runs do not carry an id of ours, so none can be told to be this one."""
        return orphaned(self._setup, job_id)

    async def health(self) -> Health:
        """By the list of runs, which starts none."""
        try:
            queued = len(await self._runs.open())
        except ProviderError as error:
            return Health(ok=not error.credentials, sentence=str(error))
        return Health(ok=True, queued=queued)

    async def set_warm(self, workers: int) -> bool:
        """Its min_replicas change by a new deployment only."""
        return False

    async def close(self) -> None:
        """See Provider."""
        await self._connection.close()

    async def _talk(self, one: Asked, attempt: list[CerebriumAttempt]) -> AsyncGenerator[Update, None]:
        response = await opened(self._connection, one)
        try:
            attempt[0].run_id = _safe(response.headers.get(_RUN_ID, ""))
            if self._beacon and response.status == 200 and response.content_type == _EVENTS:
                # Between the beacon and the result nothing comes for as long as the function runs.
                patient = replace(one, stall=one.longest)
                async for update in self._events(Pieces(self._connection, patient, response)):
                    yield update
                return
            yield judged(self._connection, one, await Pieces(self._connection, one, response).whole(), self._read)
        finally:
            response.close() if not response.content.at_eof() else response.release()

    async def _events(self, pieces: Pieces) -> AsyncGenerator[Update, None]:
        async for data in data_of(pieces):
            event = _event(data)
            if event.get("hedgerow") == "started":
                yield Update(state=AttemptState.RUNNING)
            elif event.get("hedgerow") == "result":
                yield Update(state=AttemptState.VALID, answer=_job_answer(data, event))
                return
            elif "error" in event:
                reason = self._connection.scrubbed(words(event["error"]))
                raise ProviderError(f"the function has failed: {reason}")
        raise ProviderError(f"the stream of {self.name} ended without a result")

    def _read(self, reply: Reply) -> Update:
        said = read_json(self.name, reply)
        return Update(state=AttemptState.VALID, answer=_job_answer(reply.body, mapping(said), reply.status))


def _job_answer(body: bytes, said: Any, status: int = 200) -> Answer:
    return Answer(
        status=status,
        headers={"Content-Type": "application/json"},
        body=body,
        output=said.get("result"),
        execution_seconds=seconds(said.get("run_time_ms")),
    )


def _event(data: bytes) -> Mapping[str, Any]:
    """What the function has yielded: an object, or one that it has written as text itself."""
    try:
        said = decoded(data)
        return mapping(decoded(said.encode()) if isinstance(said, str) else said)
    except ValueError:
        return {}


def _safe(run_id: str) -> str:
    """It becomes part of a URL."""
    return run_id if run_id and all(sign.isalnum() or sign in "-_" for sign in run_id) else ""


def _runs_url(rest: str, url: str) -> str:
    project, app, *_function = [*urlsplit(url).path.strip("/").split("/")[1:], "", ""]
    return f"{rest.rstrip('/')}/projects/{project}/apps/{project}-{app}/runs"
