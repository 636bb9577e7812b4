"""Small pieces of sentences, so that every message says the same thing in the same words."""

from collections.abc import Iterable, Sequence

from hedgerow_operator.api.times import moment_of

_MAX_NAMED = 8


def ranks(numbers: Iterable[int]) -> str:
    """``rank 2``, ``ranks 0, 1 and 3``, ``ranks 0 to 30``, or the first few and how many more."""
    return _numbered("rank", sorted(set(numbers)))


def workers(numbers: Iterable[int]) -> str:
    """As :func:`ranks`, for workers."""
    return _numbered("worker", sorted(set(numbers)))


def seconds(value: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def clock(moment: float) -> str:
    """A moment (seconds since the epoch) for people who know the day: ``13:32:08 UTC``."""
    return moment_of(moment).strftime("%H:%M:%S UTC")


def _numbered(noun: str, numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{noun}s {numbers[0]} to {numbers[-1]}"
    if len(numbers) > _MAX_NAMED:
        named = ", ".join(map(str, numbers[:_MAX_NAMED]))
        return f"{noun}s {named} and {len(numbers) - _MAX_NAMED} more"
    return f"{noun}s {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}" if numbers else f"no {noun}"
