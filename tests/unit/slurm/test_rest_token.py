"""Tokens of slurmrestd are renewed in time, and asked for no more often than they must be."""

import base64
import json

import pytest

from hedgerow_operator.adapters.slurm.rest.token import KeptToken, expiry


def token(ends: float, name: str = "a") -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": ends, "sun": name}).encode()).rstrip(b"=").decode()
    return f"eyJhbGciOiJIUzI1NiJ9.{claims}.c2ln"


class Source:
    """A Secret that somebody changes."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.asked = 0

    async def __call__(self) -> str:
        self.asked += 1
        return self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]


@pytest.mark.parametrize("text", ["", "a", "a.b.c", "a.!!.c", "..", "a.e30.c", "a.W10.c"])
def test_what_is_no_token_says_no_end(text: str) -> None:
    assert expiry(text) is None


async def test_it_is_asked_for_once_until_a_minute_before_its_end() -> None:
    now = [1000.0]
    source = Source(token(2000), token(3000))
    kept = KeptToken(source, lambda: now[0])
    first = await kept.get()
    now[0] = 1939.0
    assert await kept.get() == first
    now[0] = 1940.0
    assert expiry(await kept.get()) == 3000
    assert source.asked == 2


async def test_after_a_refusal_it_is_worth_another_try_only_with_another_token() -> None:
    kept = KeptToken(Source(token(2000, "a"), token(2000, "b")), lambda: 0.0)
    await kept.get()
    assert await kept.renew()
    assert not await kept.renew()
