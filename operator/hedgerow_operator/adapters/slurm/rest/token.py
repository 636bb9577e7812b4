"""JSON web tokens of slurmrestd: where they come from, and when a new one is due."""

import base64
import json
from collections.abc import Awaitable, Callable

# So long before its end a token is asked for anew: a call may wait for its controller.
_EARLY_SECONDS = 60.0

TokenSource = Callable[[], Awaitable[str]]


def expiry(token: str) -> float | None:
    """When it ends (epoch seconds) by its own word, "exp" of RFC 7519, unverified; None where it does not say."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"])
    except (ValueError, KeyError, TypeError):
        return None


class KeptToken:
    """Asks the source only when it must: at first, near the end of the token, and after one was refused."""

    def __init__(self, source: TokenSource, clock: Callable[[], float]) -> None:
        self._source = source
        self._clock = clock
        self._token: str | None = None
        self._ends: float | None = None

    async def get(self) -> str:
        """The token to send. Raises what the source raises."""
        if self._token is None or (self._ends is not None and self._clock() >= self._ends - _EARLY_SECONDS):
            self._token = (await self._source()).strip()
            self._ends = expiry(self._token)
        return self._token

    async def renew(self) -> bool:
        """It was refused; whether the source now gives another one."""
        before, self._token = self._token, None
        return await self.get() != before

    @property
    def over(self) -> bool:
        """Whether the token in use says that it has ended."""
        return self._ends is not None and self._clock() >= self._ends
