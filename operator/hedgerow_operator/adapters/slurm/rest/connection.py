"""One pooled session to slurmrestd, over TCP or a unix socket; its errors in our words."""

from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec

from hedgerow_operator.adapters.slurm.rest.token import KeptToken
from hedgerow_operator.reconcile.ports import Refused, Unreachable

# slurmrestd waits 9 s for a controller that is away (MessageTimeout 10), and may try more than once.
_TOTAL_SECONDS = 25.0
_CONNECT_SECONDS = 5.0
# A job takes about 2 kB: this is room for a hundred thousand of them.
_MOST_BYTES = 256 * 1024 * 1024
_MOST_WORDS = 300
_UNIX = "unix:"
_NOT_AUTHENTICATED = (401, 403)

# Numbers from Slurm's slurm_errno.h.
INVALID_JOB_ID = 2017
ALREADY_DONE = 2021


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of ``errors``."""

    number: int
    sentence: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """status: of HTTP. body: the JSON object. troubles: its ``errors``."""

    status: int
    body: dict[str, Any]
    troubles: tuple[Trouble, ...]

    def has(self, number: int) -> bool:
        """Whether this error is among them."""
        return any(trouble.number == number for trouble in self.troubles)

    @property
    def why(self) -> str:
        """Slurm's own words."""
        return "; ".join(trouble.sentence for trouble in self.troubles) or f"HTTP {self.status}"


class Connection:
    """url: http(s)://HOST:PORT or unix:PATH. user, token: None over a unix socket, where the kernel says who asks."""

    def __init__(self, url: str, user: str | None, token: KeptToken | None) -> None:
        self.url = url
        self._base = "http://localhost" if url.startswith(_UNIX) else url.rstrip("/")
        self._user = user
        self._token = token
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """One call, again with a new token where the one in use is refused. Raises Unreachable."""
        answer = await self._once(method, path, body)
        if self._token is not None and _may_be_the_token(answer) and await self._renewed():
            answer = await self._once(method, path, body)
        if answer.status in _NOT_AUTHENTICATED:
            raise Unreachable(f"{self.url} does not accept the token of {self._user}: {answer.why}")
        return answer

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()

    @property
    def doubt(self) -> str:
        """What else may be wrong where slurmrestd gives no reason."""
        if self._token is None:
            return ""
        if self._token.over:
            return "; the token has expired"
        return "; its controller does not answer, or it does not accept the token"

    async def _renewed(self) -> bool:
        assert self._token is not None
        return await self._token.renew()

    async def _headers(self) -> dict[str, str]:
        if self._token is None:
            return {}
        return {"X-SLURM-USER-NAME": self._user or "", "X-SLURM-USER-TOKEN": await self._token.get()}

    async def _once(self, method: str, path: str, body: Any) -> Answer:
        headers = await self._headers()
        data = None if body is None else msgspec.json.encode(body)
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            async with self._open().request(method, self._base + path, data=data, headers=headers) as response:
                return _answer(response.status, await _read(response))
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise Unreachable(f"{self.url} cannot be reached ({str(error) or type(error).__name__})") from None
        except ValueError as error:
            raise Unreachable(f"{self.url} answers what is no JSON of slurmrestd ({error})") from None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            unix = self.url.removeprefix(_UNIX) if self.url.startswith(_UNIX) else None
            timeout = aiohttp.ClientTimeout(total=_TOTAL_SECONDS, sock_connect=_CONNECT_SECONDS)
            connector = aiohttp.UnixConnector(unix) if unix else aiohttp.TCPConnector()
            self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=True)
        return self._session


def check_url(url: str) -> None:
    """Raises Refused with one sentence when it is no address of slurmrestd."""
    if url.startswith(_UNIX) and len(url) > len(_UNIX):
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused(f"{url!r} is no address of slurmrestd; write http://HOST:6820, https://HOST, or unix:/PATH")


async def _read(response: aiohttp.ClientResponse) -> bytes:
    whole = bytearray()
    async for piece in response.content.iter_chunked(65536):
        whole += piece
        if len(whole) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES >> 20} MiB")
    return bytes(whole)


def _answer(status: int, text: bytes) -> Answer:
    try:
        body = msgspec.json.decode(text) if text.strip() else {}
    except msgspec.DecodeError:
        if status < 400:
            raise
        # Before it knows who asks, it answers by a few words.
        body = {"errors": [{"error": text[:_MOST_WORDS].decode(errors="replace")}]}
    if not isinstance(body, dict):
        raise ValueError("not an object")
    errors = body.get("errors")
    return Answer(status=status, body=body, troubles=tuple(map(_trouble, errors if isinstance(errors, list) else [])))


def _trouble(entry: Any) -> Trouble:
    if not isinstance(entry, dict):
        return Trouble(number=0, sentence=str(entry))
    number = entry.get("error_number", entry.get("error_code", 0))
    words = [str(entry[name]) for name in ("description", "error") if entry.get(name)]
    # 22.05 calls most things an unspecified error; its description says more.
    sentence = words[0] if len(words) == 2 and words[1] == "Unspecified error" else ": ".join(reversed(words))
    return Trouble(number=number if isinstance(number, int) else 0, sentence=sentence)


def _may_be_the_token(answer: Answer) -> bool:
    """22.05 answers a token that it does not accept by 500 and no reason, as it does when its controller is away."""
    return answer.status in _NOT_AUTHENTICATED or (answer.status >= 500 and not _reason(answer))


def _reason(answer: Answer) -> bool:
    return any(trouble.number not in (-1, 0) for trouble in answer.troubles)
