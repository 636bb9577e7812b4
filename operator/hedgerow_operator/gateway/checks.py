"""Checks of answers, made when an endpoint has some: pictures and schemas need libraries that others do not."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from hedgerow_operator.api.answer_check import AnswerCheck
from hedgerow_operator.gateway.ports import Validator


class Checks:
    """allowed_networks: CIDRs that results given as URLs may be fetched from although they are not public."""

    def __init__(self, allowed_networks: Sequence[str]) -> None:
        self._allowed_networks = tuple(allowed_networks)
        self._checker: Any = None

    def validator_of(self, check: AnswerCheck) -> Validator:
        """Raises ValueError in a sentence."""
        if self._checker is None:
            module = importlib.import_module("hedgerow_operator.gateway.validators.checker")
            self._checker = module.Checker(self._allowed_networks)
        validator: Validator = self._checker.validator_of(check)
        return validator

    async def close(self) -> None:
        """Let go of everything."""
        if self._checker is not None:
            await self._checker.close()
