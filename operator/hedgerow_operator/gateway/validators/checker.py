"""Validators of a gateway: each entry of ``spec.validate`` as one that the data path can ask."""

import asyncio

from msgspec.structs import replace

from hedgerow_operator.adapters.providers.contract import Answer
from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.core.hedging.validation.seen import SeenAnswer
from hedgerow_operator.gateway.validators.asked import Finding, Question
from hedgerow_operator.gateway.validators.fetching import Fetching, NotFetched
from hedgerow_operator.gateway.validators.finding import found, look_of
from hedgerow_operator.gateway.validators.workers import LONGEST_SECONDS, Workers

# Decoders, patterns that may backtrack and code of others never run in the gateway itself.
_ALWAYS_APART = frozenset({"Regex", "JSONSchema", "WAV", "Image", "Video", "Plugin"})
# Reading so much JSON takes less than a millisecond.
_MOST_ON_LOOP = 128 << 10
_NO_BODY_NEEDED = frozenset({"ContentType"})


class Checker:
    """One a gateway. seconds: how long one check of one answer may take."""

    def __init__(self, allowed_networks: tuple[str, ...] = (), seconds: float = LONGEST_SECONDS) -> None:
        self.fetching, self.workers = Fetching(allowed_networks), Workers(seconds)

    def validator_of(self, check: AnswerCheck) -> "AnswerValidator":
        """Raises ValueError with a sentence when the check makes no sense."""
        return AnswerValidator(self, check)

    async def close(self) -> None:
        """End the processes, and let go of the session."""
        await asyncio.gather(self.fetching.close(), self.workers.close())


class AnswerValidator:
    """See Validator."""

    def __init__(self, checker: Checker, check: AnswerCheck) -> None:
        self._checker, self._check, self._look = checker, check, look_of(check)
        self.needs_body = check.type not in _NO_BODY_NEEDED

    async def check(self, answer: Answer) -> str:
        """See Validator."""
        headers = answer.headers.items()
        content_type = next((value for name, value in headers if name.lower() == "content-type"), "")
        seen = SeenAnswer(content_type=content_type, body=answer.body, output=answer.output)
        if not self.needs_body:
            seen = SeenAnswer(content_type=content_type)
        finding = await self._found(seen)
        if not finding.fetch:
            return finding.fault
        try:
            fetched = await self._checker.fetching.fetch(finding.fetch)
        except NotFetched as error:
            return str(error)
        return (await self._found(replace(seen, fetched=fetched, body=b"", output=None))).fault

    async def _found(self, seen: SeenAnswer) -> Finding:
        size = len(seen.body) + len(seen.fetched or b"")
        if self._check.type in _ALWAYS_APART or size > _MOST_ON_LOOP:
            return await self._checker.workers.find(Question(self._check, seen))
        return found(self._look, seen)
