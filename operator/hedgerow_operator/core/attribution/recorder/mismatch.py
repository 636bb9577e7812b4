"""Ranks that joined one collective of a group with different operations, sizes or types: a fault of the program."""

from collections.abc import Mapping

from msgspec import Struct

from hedgerow_operator.core.attribution.recorder.dump import Work
from hedgerow_operator.core.attribution.recorder.gang import Gang

# Sizes of these may rightly differ between ranks.
_UNEVEN = ("all_to_all", "alltoall", "gather_v", "gatherv", "scatter_v", "scatterv", "coalesced", "barrier")
# The root alone has a list on one side.
_ROOTED = ("gather", "scatter", "reduce")


class Mismatch(Struct, frozen=True, kw_only=True):
    """odd: the ranks that differ from more than half; empty when no side is in the majority."""

    group: str
    seq: int
    aspect: str
    odd: tuple[int, ...]
    works: Mapping[int, Work]


def find_mismatch(gang: Gang) -> Mismatch | None:
    """The first mismatch among the collectives that ranks stand in; by group title and sequence when there are more."""
    found = [mismatch for key in gang.members for mismatch in _of_group(gang, key)]
    return min(found, key=lambda one: (gang.groups[one.group].title, one.seq, -len(one.works)), default=None)


def _of_group(gang: Gang, key: str) -> list[Mismatch]:
    works: dict[int, dict[int, Work]] = {}
    for rank in gang.members[key]:
        if (work := gang.first(rank, key)) is not None:
            works.setdefault(work.seq, {})[rank] = work
    return [found for seq, joined in works.items() if (found := _compare(key, seq, joined)) is not None]


def _compare(key: str, seq: int, works: Mapping[int, Work]) -> Mismatch | None:
    for aspect, values in _aspects(works).items():
        sides: dict[object, list[int]] = {}
        for rank, value in values.items():
            if value is not None:
                sides.setdefault(value, []).append(rank)
        if len(sides) > 1:
            largest = max(sides.values(), key=len)
            measured = sum(map(len, sides.values()))
            odd = [rank for side in sides.values() if side is not largest for rank in side]
            clear = len(largest) * 2 > measured
            return Mismatch(group=key, seq=seq, aspect=aspect, odd=tuple(sorted(odd)) if clear else (), works=works)
    return None


def _aspects(works: Mapping[int, Work]) -> dict[str, dict[int, object]]:
    """What has to be equal, by what people call it; None is not told."""
    aspects: dict[str, dict[int, object]] = {"operation": {rank: work.op or None for rank, work in works.items()}}
    ops = {work.op for work in works.values()}
    op = next(iter(ops)) if len(ops) == 1 else ""
    if op and not any(name in op for name in _UNEVEN):
        aspects["size"] = {rank: _size(work, op) for rank, work in works.items()}
        aspects["type"] = {rank: work.input_dtypes or None for rank, work in works.items()}
    return aspects


def _size(work: Work, op: str) -> object:
    """Elements in all, not shapes: ranks may rightly view the same buffer differently."""
    rooted = any(op.lstrip("_").startswith(name) for name in _ROOTED) and "reduce_scatter" not in op
    if work.input_sizes is None or (rooted and not work.input_sizes):
        return None
    return sum(_elements(shape) for shape in work.input_sizes)


def _elements(shape: tuple[int, ...]) -> int:
    elements = 1
    for size in shape:
        elements *= size
    return elements
