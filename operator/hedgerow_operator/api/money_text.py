"""Amounts of US dollars as manifests write them: text, so that no digit is lost."""

from __future__ import annotations

import re
from decimal import Decimal

USD = r"^[0-9]{1,9}([.][0-9]{1,9})?$"


def is_usd(text: str | None) -> bool:
    """Whether it is an amount, or nothing."""
    return text is None or re.fullmatch(USD, text) is not None


def usd(text: str | None) -> Decimal | None:
    """The amount; None: nothing was written."""
    return None if text is None else Decimal(text)
