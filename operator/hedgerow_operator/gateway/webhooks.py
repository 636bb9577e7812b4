"""Tells the address that a client gave with its job that the job has ended: once, for the winner, as RunPod does."""

import asyncio
import logging
from collections.abc import Sequence
from urllib.parse import urlsplit

import aiohttp
import msgspec

from hedgerow_operator.adapters.providers.guard import Guard, guarded_session
from hedgerow_operator.gateway.jobs import Job
from hedgerow_operator.gateway.reply import RefusedError

_log = logging.getLogger(__name__)
# RunPod: 200 is expected, and there are two more tries, 10 s apart.
_TRIES_AFTER_SECONDS = (0.0, 10.0, 10.0)
_ANSWER_SECONDS = 15.0
_MOST_AT_ONCE = 32


def webhook_of(given: object) -> str:
    """The address, if there is one. Raises RefusedError."""
    if given is None or given == "":
        return ""
    if isinstance(given, str) and len(given) <= 2048:
        try:
            parts = urlsplit(given)
            if parts.scheme in ("http", "https") and parts.hostname and not parts.username:
                return given
        except ValueError:
            pass
    raise RefusedError(400, "webhook has to be a http or https address without a user name")


class Webhooks:
    """Addresses that clients name never reach private networks, except those of ``allowed_networks``."""

    def __init__(
        self, allowed_networks: Sequence[str] = (), tries_after: Sequence[float] = _TRIES_AFTER_SECONDS
    ) -> None:
        self._guard, self._tries_after = Guard(allowed_networks, private=False), tries_after
        self._session: aiohttp.ClientSession | None = None
        self._room = asyncio.Semaphore(_MOST_AT_ONCE)
        self._calls: set[asyncio.Task[None]] = set()

    def ended(self, job: Job) -> None:
        """Of every job; nobody waits for it."""
        if job.wanted.webhook:
            body = msgspec.json.encode(job.shown())
            call = asyncio.get_running_loop().create_task(self._call(job.id, job.wanted.webhook, body))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)

    async def close(self, grace_seconds: float = 0.0) -> None:
        """Give those that are being told so long, and let go of the session."""
        if self._calls:
            _done, left = await asyncio.wait(self._calls, timeout=grace_seconds)
            for call in left:
                call.cancel()
        if self._session is not None:
            await self._session.close()

    async def _call(self, job_id: str, url: str, body: bytes) -> None:
        why = ""
        for seconds in self._tries_after:
            await asyncio.sleep(seconds)
            async with self._room:
                why = await self._tell(url, body)
            if not why:
                return
        _log.warning("the webhook of job %s was not told of its end: %s", job_id, why)

    async def _tell(self, url: str, body: bytes) -> str:
        """Why it was not told; empty: it was."""
        if self._session is None:
            self._session = guarded_session(self._guard)
        timeout = aiohttp.ClientTimeout(total=_ANSWER_SECONDS)
        headers = {"Content-Type": "application/json"}
        try:
            async with self._session.post(
                url, data=body, headers=headers, timeout=timeout, allow_redirects=False
            ) as answer:
                return "" if answer.status == 200 else f"it answered with status {answer.status}"
        except (OSError, aiohttp.ClientError, TimeoutError, ValueError) as error:
            return type(error).__name__
