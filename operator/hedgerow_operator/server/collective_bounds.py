"""What the digest of a flight recorder may hold at most: plain values, and so few that every later sum bears them."""

from collections.abc import Iterator
from typing import Any

# A digest has three operations a group, of some fifteen fields each; a job has at most some hundred groups.
MAX_VALUES = 100_000
MAX_DEPTH = 8
MAX_TEXT = 4096
# Ranks of all groups together, once they are written out.
MAX_WRITTEN_OUT = 1 << 20
_MOST = 2**64
_GROUPS, _RUNS = "pg_config", "rank_runs"


def excess_of_collectives(digest: dict[str, Any]) -> str | None:
    """What the digest holds that cannot be, in words that follow "collectives", or None."""
    for number, (value, depth) in enumerate(_values(digest, 0)):
        if number >= MAX_VALUES:
            return f"has more than {MAX_VALUES} values"
        if depth > MAX_DEPTH:
            return f"is nested deeper than {MAX_DEPTH}"
        if isinstance(value, str) and len(value) > MAX_TEXT:
            return f"has a text of more than {MAX_TEXT} characters"
        if isinstance(value, int | float) and not -_MOST < value < _MOST:
            return "has a number that does not fit into 64 bits"
    return _excess_of_runs(digest.get(_GROUPS))


def _values(value: Any, depth: int) -> Iterator[tuple[Any, int]]:
    """Every value inside, keys too, one by one; what lies too deep is not entered."""
    yield value, depth
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, held in value.items():
            yield key, depth
            yield from _values(held, depth + 1)
    elif isinstance(value, list):
        for held in value:
            yield from _values(held, depth + 1)


def _excess_of_runs(groups: Any) -> str | None:
    total = 0
    for group in groups.values() if isinstance(groups, dict) else ():
        runs = group.get(_RUNS, []) if isinstance(group, dict) else []
        if not isinstance(runs, list) or not all(_is_run(run) for run in runs):
            return f"has {_RUNS} that are not lists of first, how many and stride"
        total += sum(run[1] for run in runs)
    return f"names more than {MAX_WRITTEN_OUT} ranks" if total > MAX_WRITTEN_OUT else None


def _is_run(run: Any) -> bool:
    return isinstance(run, list) and len(run) == 3 and all(type(value) is int and value >= 0 for value in run)
