"""Which nodes of Slurm are drained for a quarantine, and which drains are undone: never somebody else's."""

import pytest

from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.core.nodes.taints import TaintRules
from hedgerow_operator.core.slurm.drains import PREFIX, decide_drains
from hedgerow_operator.core.slurm.seen import SlurmNode

SINCE = "2027-01-01T00:00:00Z"
BAD = Quarantine(reason="Xid79", message="GPU 3 has fallen off the bus", since=SINCE)
HALF = TaintRules(max_percent=50)


def node(name: str, reason: str = "", state: str = "IDLE") -> SlurmNode:
    return SlurmNode(name=name, state=state, flags=frozenset({"DRAIN"} if reason else ()), reason=reason)


# Nodes, the quarantined ones, what was drained before, which are drained, which resumed.
CASES: dict[str, tuple[tuple[SlurmNode, ...], tuple[str, ...], dict[str, str], tuple[str, ...], tuple[str, ...]]] = {
    "one that is quarantined is drained": ((node("n1"), node("n2")), ("n2",), {}, ("n2",), ()),
    "one with a job on it likewise: the job goes on": (
        (node("n1"), node("n2", state="ALLOCATED")),
        ("n2",),
        {},
        ("n2",),
        (),
    ),
    "one that is drained already is left": ((node("n1"), node("n2", PREFIX + "Xid79")), ("n2",), {}, (), ()),
    "one that an administrator has drained is left": ((node("n1"), node("n2", "maintenance")), ("n2",), {}, (), ()),
    "ours is undone when its quarantine is over": ((node("n1"), node("n2", PREFIX + "Xid79")), (), {}, (), ("n2",)),
    "an administrator's is never undone": ((node("n1"), node("n2", "maintenance")), (), {}, (), ()),
    "nor one whose reason they have replaced": (
        (node("n1"), node("n2", "waits for RMA, hedgerow: no")),
        (),
        {},
        (),
        (),
    ),
    "one that a person has undone is not put back for the same trouble": (
        (node("n1"), node("n2")),
        ("n2",),
        {"n2": SINCE},
        (),
        (),
    ),
    "but for another one": ((node("n1"), node("n2")), ("n2",), {"n2": "2026-01-01T00:00:00Z"}, ("n2",), ()),
    "no larger share than is allowed": (
        tuple(node(f"n{number}") for number in range(4)),
        ("n0", "n1", "n2", "n3"),
        {},
        ("n0", "n1"),
        (),
    ),
    "those that are drained count": (
        (node("n0", PREFIX + "Xid79"), node("n1"), node("n2"), node("n3")),
        ("n0", "n1", "n2"),
        {},
        ("n1",),
        (),
    ),
    "quarantined nodes elsewhere are nobody's here": ((node("n1"),), ("other",), {}, (), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_of_the_nodes_of_a_cluster(case: str) -> None:
    nodes, quarantined, done, drained, resumed = CASES[case]
    plan = decide_drains(dict.fromkeys(quarantined, BAD), nodes, done, HALF)
    assert (tuple(plan.drain), plan.resume) == (drained, resumed)


def test_the_reason_says_whose_it_is_and_what_is_wrong_in_one_line() -> None:
    long = Quarantine(reason="Xid79", message="GPU 3\nhas fallen off the bus " + "and so on " * 50, since=SINCE)
    (reason,) = decide_drains({"n1": long}, [node("n1")], {}, HALF).drain.values()
    assert reason.startswith("hedgerow: Xid79 GPU 3 has fallen off the bus")
    assert (len(reason) <= 200, "\n" in reason) == (True, False)
