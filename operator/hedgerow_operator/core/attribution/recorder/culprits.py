"""Guilty are the ranks that others wait for and that wait for nobody themselves, or for one another only."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from hedgerow_operator.core.attribution.recorder.components import components
from hedgerow_operator.core.attribution.recorder.waits import Wait

Node: TypeAlias = int | tuple[str, tuple[int, ...]]


class Culprits(Struct, frozen=True, kw_only=True):
    """never_joined: waited for, and waiting for nobody. deadlocked: waiting for one another, and for nobody else."""

    never_joined: frozenset[int]
    deadlocked: frozenset[int]

    @property
    def ranks(self) -> frozenset[int]:
        """All of them."""
        return self.never_joined | self.deadlocked


def find_culprits(waits: Sequence[Wait]) -> Culprits:
    """The ends of the chains of waiting."""
    graph = _graph(waits)
    never_joined: set[int] = set()
    deadlocked: set[int] = set()
    for component in components(graph):
        inside = set(component)
        ends_here = all(target in inside for node in component for target in graph.get(node, ()))
        ranks = [node for node in component if isinstance(node, int)]
        if ends_here and len(component) > 1:
            deadlocked.update(ranks)
        elif ends_here:
            never_joined.update(ranks)
    return Culprits(never_joined=frozenset(never_joined), deadlocked=frozenset(deadlocked))


def _graph(waits: Sequence[Wait]) -> dict[Node, list[Node]]:
    """Ranks lead to what they wait in, and that to the ranks that are absent: few edges in large groups."""
    graph: dict[Node, list[Node]] = {}
    for wait in waits:
        gate: Node = (wait.group, wait.absent)
        graph.setdefault(wait.rank, []).append(gate)
        if gate not in graph:
            graph[gate] = list(wait.absent)
    return graph
