"""Other replicas of this gateway: a job is asked of the one that has it, a key always of the same one."""

import hashlib

import aiohttp
from aiohttp import web
from msgspec import Struct

from hedgerow_operator.gateway.passing_on import passed_on
from hedgerow_operator.gateway.reply import RefusedError

FORWARDED = "X-Hedgerow-Forwarded"
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5.0)
_LEAVES_OUT = frozenset({"host", "connection", "keep-alive", "transfer-encoding", "upgrade", "te", "expect"})


class Replica(Struct, frozen=True, kw_only=True):
    """This one. number: from 0. addresses: of all, in order; empty: there is no other."""

    number: int = 0
    addresses: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many there are."""
        return max(1, len(self.addresses))

    def owner(self) -> str:
        """How the names of its jobs begin."""
        return str(self.number)


class Peers:
    """own: which of them this is."""

    def __init__(self, own: Replica) -> None:
        self.own = own
        self._session: aiohttp.ClientSession | None = None

    def of_job(self, job_id: str) -> int:
        """Which replica has the job; ours where the name tells nothing."""
        number, _, rest = job_id.partition("-")
        if not rest or not number.isascii() or not number.isdigit() or len(number) > 6:
            return self.own.number
        return int(number) if int(number) < self.own.count else self.own.number

    def of_key(self, key: str) -> int:
        """Which replica knows what was answered under the key."""
        if self.own.count <= 1:
            return self.own.number
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) % self.own.count

    async def forward(self, request: web.BaseRequest, number: int) -> web.StreamResponse:
        """Its answer, as it comes. Raises RefusedError."""
        if FORWARDED in request.headers:
            raise RefusedError(502, "the replicas of the gateway do not agree on how many they are", retry_after=5.0)
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=_TIMEOUT, auto_decompress=False, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()
            )
        encoded = "Content-Encoding" in request.headers  # what comes here is decoded, and longer than it was
        left_out = _LEAVES_OUT | {"content-encoding", "content-length"} if encoded else _LEAVES_OUT
        headers = {name: value for name, value in request.headers.items() if name.lower() not in left_out}
        headers[FORWARDED] = self.own.owner()
        url = self.own.addresses[number].rstrip("/") + request.raw_path
        data = None if request.content.is_eof() and not request.content.total_bytes else request.content.iter_any()
        try:
            async with self._session.request(
                request.method, url, data=data, headers=headers, allow_redirects=False
            ) as answer:
                response = web.StreamResponse(status=answer.status, headers=passed_on(answer.headers))
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
                return response
        except (OSError, aiohttp.ClientError) as error:
            told = f"replica {number} of the gateway cannot be reached ({type(error).__name__})"
            raise RefusedError(503, told, retry_after=5.0) from None

    async def close(self) -> None:
        """Let go of the session."""
        if self._session is not None:
            await self._session.close()
