"""Which nodes of a Slurm cluster to drain while they are quarantined, and which of our drains to undo. Pure.

A drain is ours where its reason begins with our word; what an administrator drained, or gave a reason of their own, is
theirs. One that somebody has undone is not put back for the same trouble.
"""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core.nodes.taints import TaintRules, most
from hedgerow_operator.core.slurm.seen import SlurmNode

PREFIX = "hedgerow: "
_DRAIN = "DRAIN"
# Slurm takes no longer reason than fits its records; the quarantine itself says more.
_LONGEST = 200


class DrainPlan(Struct, frozen=True, kw_only=True):
    """drain: node -> the reason to give. resume: nodes whose drain is ours and not needed any more."""

    drain: Mapping[str, str] = {}
    resume: tuple[str, ...] = ()


def decide_drains(
    quarantines: Mapping[str, Quarantine],
    nodes: Iterable[SlurmNode],
    done: Mapping[str, str],
    rules: TaintRules,
    foreign: Collection[str] = (),
) -> DrainPlan:
    """quarantines: of every node, of this cluster or not. done: node -> since when the quarantine lasts that it was
    drained for, as far as that is remembered. rules: no larger share of the nodes is ever drained by us.
    foreign: names whose quarantine is about another cluster's node.
    """
    every = list(nodes)
    ours = {node.name for node in every if _is_ours(node)}
    over = tuple(sorted(name for name in ours if name not in quarantines))
    wanted = sorted(
        (parse_time(quarantines[node.name].since), node.name)
        for node in every
        if node.name in quarantines
        and node.name not in foreign
        and _DRAIN not in node.flags
        and done.get(node.name) != quarantines[node.name].since
    )
    room = max(0, most(len(every), rules) - len(ours) + len(over))
    return DrainPlan(drain={name: _reason(quarantines[name]) for _, name in wanted[:room]}, resume=over)


def _is_ours(node: SlurmNode) -> bool:
    return _DRAIN in node.flags and node.reason.startswith(PREFIX)


def _reason(quarantine: Quarantine) -> str:
    said = " ".join(f"{quarantine.reason} {quarantine.message}".split())
    return f"{PREFIX}{said}"[:_LONGEST]
