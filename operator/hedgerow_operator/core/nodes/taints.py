"""Which nodes to taint while they are quarantined, and which of our taints to take off: never one of somebody else.

A taint is ours where the node carries our mark (a label, and since when the quarantine lasts that it is for). The mark
stays as long as that quarantine, also without the taint: one that a person took off, or that has run out, is not put
back for the same trouble.
"""

from collections.abc import Mapping

from msgspec import Struct

from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.api.times import parse_time

MAX_PERCENT = 10
# A node that nobody has repaired within a day is for people to look at: a taint that nobody needs must not stay.
EXPIRY_SECONDS = 86400.0


class TaintRules(Struct, frozen=True, kw_only=True):
    """max_percent: share of the nodes with GPUs that we may have tainted at a time; one always.
    expiry_seconds: how long a taint stays at most."""

    max_percent: int = MAX_PERCENT
    expiry_seconds: float = EXPIRY_SECONDS


class Mark(Struct, frozen=True, kw_only=True):
    """Our mark on a node. cause: since when the quarantine lasts, as stored. until: when the taint runs out (seconds
    since the epoch; None: cannot be read). tainted: whether the taint is there."""

    cause: str
    until: float | None
    tainted: bool


class TaintPlan(Struct, frozen=True, kw_only=True):
    """Names of nodes. taint: put mark and taint on. release: take the taint off and keep the mark. clear: both off."""

    taint: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()


def decide_taints(
    quarantines: Mapping[str, Quarantine], marks: Mapping[str, Mark], fleet: int, rules: TaintRules, now: float
) -> TaintPlan:
    """quarantines: of every node that is quarantined now. marks: of every node that carries ours.
    fleet: number of nodes with GPUs."""
    over = {name for name, mark in marks.items() if not _same(quarantines.get(name), mark)}
    ended = {name for name, mark in marks.items() if name not in over and mark.tainted and _ran_out(mark, now)}
    standing = sum(mark.tainted for name, mark in marks.items() if name not in over | ended)
    room = max(0, most(fleet, rules) - standing)
    wanted = sorted((parse_time(entry.since), name) for name, entry in quarantines.items() if name not in marks)
    return TaintPlan(
        taint=tuple(name for _, name in wanted[:room]), release=tuple(sorted(ended)), clear=tuple(sorted(over))
    )


def most(fleet: int, rules: TaintRules) -> int:
    """How many nodes may be tainted at a time."""
    return max(1, fleet * rules.max_percent // 100)


def _same(quarantine: Quarantine | None, mark: Mark) -> bool:
    return quarantine is not None and quarantine.since == mark.cause


def _ran_out(mark: Mark, now: float) -> bool:
    return mark.until is None or now >= mark.until
