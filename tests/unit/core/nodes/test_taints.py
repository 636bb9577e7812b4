"""Quarantined nodes are tainted within the fleet's share and for a time; only what is ours is ever taken off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.nodes.taints import Mark, TaintPlan, TaintRules, decide_taints, most

NOW = 1_767_322_800.0
RULES = TaintRules(max_percent=10, expiry_seconds=3600.0)


def since(seconds: float = 60.0) -> Quarantine:
    """A quarantine that began so long ago."""
    return Quarantine(reason="Xid79", since=format_time(NOW - seconds))


def mark(quarantine: Quarantine, left: float | None = 600.0, tainted: bool = True) -> Mark:
    """Our mark for it, with so many seconds to go."""
    return Mark(cause=quarantine.since, until=None if left is None else NOW + left, tainted=tainted)


SICK, EARLIER = since(), since(7200)
CASES: dict[str, tuple[dict[str, Quarantine], dict[str, Mark], TaintPlan]] = {
    "nothing is quarantined": ({}, {}, TaintPlan()),
    "a node is quarantined": ({"a": SICK}, {}, TaintPlan(taint=("a",))),
    "it is tainted already": ({"a": SICK}, {"a": mark(SICK)}, TaintPlan()),
    "its quarantine is over": ({}, {"a": mark(SICK)}, TaintPlan(clear=("a",))),
    "its quarantine is over and a person took the taint off": (
        {},
        {"a": mark(SICK, tainted=False)},
        TaintPlan(clear=("a",)),
    ),
    "a person took the taint off": ({"a": SICK}, {"a": mark(SICK, tainted=False)}, TaintPlan()),
    "it has run out": ({"a": SICK}, {"a": mark(SICK, left=0.0)}, TaintPlan(release=("a",))),
    "it ran out some time ago": ({"a": SICK}, {"a": mark(SICK, left=-9.0, tainted=False)}, TaintPlan()),
    "nobody can read when it runs out": ({"a": SICK}, {"a": mark(SICK, left=None)}, TaintPlan(release=("a",))),
    "it was for an earlier quarantine": ({"a": SICK}, {"a": mark(EARLIER)}, TaintPlan(clear=("a",))),
    "another node has the one place": ({"a": SICK, "b": EARLIER}, {"a": mark(SICK)}, TaintPlan()),
    "two are quarantined and one place is there: the older one": (
        {"a": SICK, "b": EARLIER},
        {},
        TaintPlan(taint=("b",)),
    ),
    "a place becomes free": (
        {"b": SICK},
        {"a": mark(SICK)},
        TaintPlan(taint=("b",), clear=("a",)),
    ),
    "the one that a person took off holds no place": (
        {"a": SICK, "b": SICK},
        {"a": mark(SICK, tainted=False)},
        TaintPlan(taint=("b",)),
    ),
}


@pytest.mark.parametrize(("quarantines", "marks", "expected"), CASES.values(), ids=CASES)
def test_of_ten_nodes(quarantines: dict[str, Quarantine], marks: dict[str, Mark], expected: TaintPlan) -> None:
    assert decide_taints(quarantines, marks, 10, RULES, NOW) == expected


SHARES = {
    "no node at all": (0, 10, 1),
    "one node": (1, 10, 1),
    "nineteen nodes": (19, 10, 1),
    "twenty nodes": (20, 10, 2),
    "everything": (7, 100, 7),
}


@pytest.mark.parametrize(("fleet", "percent", "expected"), SHARES.values(), ids=SHARES)
def test_how_many_may_be_tainted_at_a_time(fleet: int, percent: int, expected: int) -> None:
    assert most(fleet, TaintRules(max_percent=percent)) == expected


NAMES = st.sampled_from([f"n{number}" for number in range(12)])
QUARANTINES = st.dictionaries(NAMES, st.sampled_from([SICK, EARLIER]))
MARKS = st.dictionaries(
    NAMES,
    st.builds(mark, st.sampled_from([SICK, EARLIER]), st.one_of(st.none(), st.floats(-9, 9)), st.booleans()),
)


@given(QUARANTINES, MARKS, st.integers(0, 60), st.integers(1, 100))
def test_whatever_is_there_the_share_is_kept_and_only_marked_nodes_are_freed(
    quarantines: dict[str, Quarantine], marks: dict[str, Mark], fleet: int, percent: int
) -> None:
    rules = TaintRules(max_percent=percent)
    plan = decide_taints(quarantines, marks, fleet, rules, NOW)
    freed = {*plan.release, *plan.clear}
    assert freed <= set(marks)
    assert not freed & set(plan.taint)
    assert set(plan.taint) <= set(quarantines) - set(marks)
    left = sum(entry.tainted for name, entry in marks.items() if name not in freed)
    assert not plan.taint or left + len(plan.taint) <= most(fleet, rules)


@given(QUARANTINES, MARKS, st.integers(0, 60))
def test_done_once_nothing_is_left_to_do_but_for_freed_places(
    quarantines: dict[str, Quarantine], marks: dict[str, Mark], fleet: int
) -> None:
    def step(marks: dict[str, Mark]) -> dict[str, Mark]:
        plan = decide_taints(quarantines, marks, fleet, RULES, NOW)
        kept = {name: entry for name, entry in marks.items() if name not in plan.clear}
        released = {name: mark(quarantines[name], left=-1.0, tainted=False) for name in plan.release}
        return kept | released | {name: mark(quarantines[name]) for name in plan.taint}

    settled = step(step(marks))
    assert step(settled) == settled
