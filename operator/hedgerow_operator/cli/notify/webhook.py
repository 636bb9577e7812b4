"""Delivers messages to one URL, in order, in the background. The path of the URL is a secret and is told nowhere."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import click

_TRY_SECONDS = 10.0
# Waits between the tries for one message.
PAUSES = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
_MOST_WAITING = 100
# How long the end of a run may wait for the last message.
_CLOSING_SECONDS = 5.0
_TOO_MANY = 429


def host_of(url: str) -> str:
    """Scheme and host: what may be told of a URL. Raises click.ClickException for one that leads nowhere."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host:
        raise click.ClickException(
            "--notify: this is no address that messages can be sent to; write a whole one, such as "
            "https://hooks.slack.com/services/…"
        )
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


class Webhook:
    """Sends what it is given. note: takes a sentence about a message that cannot be delivered."""

    def __init__(self, url: str, note: Callable[[str], None], pauses: tuple[float, ...] = PAUSES) -> None:
        self._url = url
        self._host = host_of(url)
        self._note = note
        self._pauses = pauses
        self._waiting: deque[dict[str, Any]] = deque(maxlen=_MOST_WAITING)
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None

    def send(self, body: dict[str, Any]) -> None:
        """Returns at once. While nothing can be delivered the newest hundred wait."""
        self._waiting.append(body)
        self._idle.clear()
        self._wake.set()

    async def __aenter__(self) -> "Webhook":
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await asyncio.wait_for(self._idle.wait(), _CLOSING_SECONDS)
        except TimeoutError:
            count = len(self._waiting)
            some = f"{count} messages" if count > 1 else "a message"
            self._note(f"{some} to {self._host} could not be delivered before the end of the run")
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _work(self) -> None:
        timeout = aiohttp.ClientTimeout(total=_TRY_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:
            while True:
                while self._waiting:
                    body = self._waiting[0]
                    await self._deliver(session, body)
                    if self._waiting and self._waiting[0] is body:
                        self._waiting.popleft()
                self._idle.set()
                self._wake.clear()
                await self._wake.wait()

    async def _deliver(self, session: aiohttp.ClientSession, body: dict[str, Any]) -> None:
        for pause in (*self._pauses, None):
            failure, final, asked = await self._try(session, body)
            if not failure:
                return
            if final or pause is None:
                self._note(f"a message to {self._host} could not be delivered: {failure}")
                return
            await asyncio.sleep(max(pause, asked))

    async def _try(self, session: aiohttp.ClientSession, body: dict[str, Any]) -> tuple[str, bool, float]:
        """What went wrong ("": nothing), whether it always will, and the pause that the server asks for."""
        try:
            async with session.post(self._url, json=body, allow_redirects=False) as response:
                status, retry_after = response.status, response.headers.get("Retry-After", "")
        except TimeoutError:
            return f"no answer within {_TRY_SECONDS:.0f} s", False, 0.0
        except (aiohttp.ClientError, OSError, ValueError) as error:  # their texts may hold the URL
            return f"it cannot be reached ({type(error).__name__})", False, 0.0
        if status < 300:
            return "", False, 0.0
        asked = min(float(retry_after), max(PAUSES)) if retry_after.isdecimal() else 0.0
        return f"it answers HTTP {status}", status < 500 and status != _TOO_MANY, asked
