"""Money as whole numbers, so that sums are exact: a billionth of a US dollar each."""

import math
from decimal import Decimal, InvalidOperation

_EACH = 1_000_000_000


def nanos(usd: float) -> int:
    """Rounded up: what is held is never less than what may be spent."""
    return max(0, math.ceil(usd * _EACH - 1e-6))


def nanos_of(text: str, where: str) -> int:
    """Of a manifest, such as "5" or "0.25". Raises ValueError with a sentence that names ``where``."""
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        amount = Decimal(-1)
    if not (amount.is_finite() and amount >= 0):
        raise ValueError(f'{where} is {text!r}; write US dollars as text, such as "5" or "0.25"')
    return int(amount * _EACH)


def usd(amount: int) -> float:
    """For people and for metrics."""
    return amount / _EACH
