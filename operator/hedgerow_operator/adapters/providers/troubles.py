"""What a provider's refusal means: whether anything can have begun, when to come again, and in which words."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from hedgerow_operator.adapters.providers.contract import ProviderError
from hedgerow_operator.adapters.providers.retry_after import retry_after
from hedgerow_operator.adapters.providers.values import decoded, mapping, text, words

_LEAST_SECRET = 4
_CREDENTIALS = frozenset({401, 403})
# Waiting does not mend these: OpenAI, Lambda, RunPod, in their own codes or words.
_EXHAUSTED = ("insufficient_quota", "quota-exceeded", "quota exceeded", "balance", "credit", "spend limit")
# Answers that came before the request was given to anything that works.
_NOTHING_BEGAN = frozenset({400, 401, 402, 403, 404, 405, 410, 411, 413, 414, 415, 422, 425, 429})


class Reply(Struct, frozen=True, kw_only=True):
    """One answer over HTTP, whole. headers: their names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Raises ValueError."""
        return decoded(self.body)

    @property
    def said(self) -> Any:
        """JSON, or the text where it is none."""
        try:
            return self.json()
        except ValueError:
            return self.body[:2000].decode(errors="replace")


class Trouble(ProviderError):
    """A refusal with its HTTP status; 0: there was no answer. reply: where there is one."""

    status: int = 0
    reply: Reply | None = None


def refused(what: str, reply: Reply, secrets: Iterable[str] = ()) -> Trouble:
    """The error that an answer of 400 or more means. what: what was asked, in words."""
    said = reply.said
    reason = scrubbed(_reason(said), secrets)
    exhausted = reply.status == 402 or (reply.status in (403, 429) and _is_exhausted(said))
    trouble = Trouble(
        f"{what} was answered by HTTP {reply.status}" + (f": {reason}" if reason else ""),
        safe_to_retry=reply.status in _NOTHING_BEGAN,
        retry_after=retry_after(reply.headers, said) if reply.status in (429, 503) else None,
        exhausted=exhausted,
        credentials=reply.status in _CREDENTIALS and not exhausted,
    )
    trouble.status, trouble.reply = reply.status, reply
    return trouble


def scrubbed(sentence: str, secrets: Iterable[str]) -> str:
    """Some answer by the key that they were given. A key that the sentence was cut within goes too."""
    for secret in secrets:
        if len(secret) >= _LEAST_SECRET:
            sentence = _without_part(sentence.replace(secret, "…"), secret)
    return sentence


def _without_part(sentence: str, secret: str) -> str:
    line = sentence.removesuffix("…")
    for length in range(min(len(secret) - 1, len(line)), _LEAST_SECRET - 1, -1):
        if line.endswith(secret[:length]):
            return line[:-length] + "…"
    return sentence


def _reason(said: Any) -> str:
    fields = mapping(said)
    inner = mapping(fields.get("error"))
    for found in (
        fields.get("detail"),
        inner.get("message"),
        fields.get("error"),
        fields.get("message"),
        fields.get("title"),
    ):
        if isinstance(found, str) and found:
            return words(found)
    return "" if _is_page(said) else words(said or "")


def _is_page(said: Any) -> bool:
    return isinstance(said, str) and said.lstrip()[:1] == "<"


def _is_exhausted(said: Any) -> bool:
    fields = mapping(said)
    inner = mapping(fields.get("error"))
    told = " ".join(text(one) for one in (inner.get("code"), inner.get("type"), fields.get("code"), _reason(said)))
    return any(sign in told.lower() for sign in _EXHAUSTED)
