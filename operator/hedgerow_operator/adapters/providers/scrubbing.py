"""Our keys taken out of answers: a server that is wrongly set up shows its callers what it was sent."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Answer

# What is shorter is no secret, and may well be a word of an answer.
_LEAST_SECRET = 8
_STAR = b"*"


class Scrubber:
    """Of one provider: the secrets that it is sent. Each is replaced by as many stars, so that nothing moves."""

    def __init__(self, secrets: Iterable[str]) -> None:
        written = {form for secret in secrets if len(secret) >= _LEAST_SECRET for form in _forms(secret)}
        # The longest first: one secret may be a part of another.
        self._texts = sorted(written, key=len, reverse=True)
        self._forms = [(form, _STAR * len(form)) for form in (text.encode() for text in self._texts)]
        self._signs = frozenset(sign for form, _stars in self._forms for sign in form[:-1])
        self._longest = max((len(form) for form, _stars in self._forms), default=0)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def answer(self, answer: Answer) -> Answer:
        """The same where there is nothing to take out, which is as good as always."""
        headers, body, output = self.headers(answer.headers), self.whole(answer.body), self._output(answer.output)
        if answer.chunks is not None:
            return replace(answer, headers=headers, body=body, output=output, chunks=self.stream(answer.chunks))
        if headers is answer.headers and body is answer.body and output is answer.output:
            return answer
        return replace(answer, headers=headers, body=body, output=output)

    def whole(self, body: bytes) -> bytes:
        """Bytes that nothing follows on."""
        for form, stars in self._forms:
            if form in body:
                body = body.replace(form, stars)
        return body

    def headers(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Their values."""
        together = "\n".join(headers.values())
        if not any(text in together for text in self._texts):
            return headers
        return {name: self.whole(value.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
                for name, value in headers.items()}  # fmt: skip

    async def stream(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """As it comes; only what a secret may begin with waits for the next piece."""
        held = b""
        async for chunk in chunks:
            data = self.whole(held + chunk if held else chunk)
            begins = self._begins(data)
            held = data[begins:]
            if begins:
                yield data[:begins] if held else data
        if held:
            yield held

    def _begins(self, data: bytes) -> int:
        """From where on its end may be the beginning of a secret; its length, where it is none."""
        if not data or data[-1] not in self._signs:
            return len(data)
        for at in range(max(0, len(data) - self._longest + 1), len(data)):
            if any(form.startswith(data[at:]) for form, _stars in self._forms):
                return at
        return len(data)

    def _output(self, output: Any) -> Any:
        if output is None or not self._forms:
            return output
        written = msgspec.json.encode(output)
        scrubbed = self.whole(written)
        return output if scrubbed is written else msgspec.json.decode(scrubbed)


def _forms(secret: str) -> set[str]:
    """As it is, and as JSON and URLs write it."""
    json = msgspec.json.encode(secret).decode()[1:-1]
    return {secret, json, json.replace("/", "\\/"), quote(secret, safe=""), quote(secret)}
