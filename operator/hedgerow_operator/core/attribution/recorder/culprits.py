"""Guilty are the ranks that others miss and that wait for nobody themselves, or for one another only."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from hedgerow_operator.core.attribution.recorder.components import components
from hedgerow_operator.core.attribution.recorder.gang import Gang
from hedgerow_operator.core.attribution.recorder.waits import Lack, Wait

Node: TypeAlias = int | tuple[str, tuple[int, ...]]


class Culprits(Struct, frozen=True, kw_only=True):
    """never_joined: missed by others, and waiting for nobody. deadlocked: waiting for one another, and for nobody else.

    standing: at the end of the chain too, but in an operation that all of its ranks have joined: nobody is missing.
    """

    never_joined: frozenset[int]
    deadlocked: frozenset[int]
    standing: frozenset[int]

    @property
    def ranks(self) -> frozenset[int]:
        """The guilty ones."""
        return self.never_joined | self.deadlocked


def find_culprits(gang: Gang, waits: Sequence[Wait]) -> Culprits:
    """The ends of the chains of waiting.

    What a rank waits in first is what holds it. What it enqueued behind shows only how far its program is: that can
    tell who stopped, and no circle.
    """
    by_heads = _at_ends(gang, [wait for wait in waits if wait.head])
    never_joined = by_heads.never_joined | _at_ends(gang, waits).never_joined
    return Culprits(
        never_joined=never_joined,
        deadlocked=frozenset() if never_joined else by_heads.deadlocked,
        standing=by_heads.standing - never_joined,
    )


def _at_ends(gang: Gang, waits: Sequence[Wait]) -> Culprits:
    graph = _graph(waits)
    missed = {rank for wait in waits if wait.lack is not Lack.REACHED for rank in wait.absent}
    unstarted = {rank for wait in waits if wait.lack is Lack.STARTED for rank in wait.absent}
    never_joined: set[int] = set()
    deadlocked: set[int] = set()
    standing: set[int] = set()
    for ranks in _ends(graph):
        if len(ranks) > 1:
            # Ranks of a circle that only queue for one another may use several streams: no proof.
            (deadlocked if missed.intersection(ranks) else standing).update(ranks)
        elif ranks[0] in missed and (ranks[0] in unstarted or not _stands(gang, ranks[0])):
            never_joined.update(ranks)
        else:
            standing.update(ranks)
    return Culprits(
        never_joined=frozenset(never_joined), deadlocked=frozenset(deadlocked), standing=frozenset(standing)
    )


def _graph(waits: Iterable[Wait]) -> dict[Node, list[Node]]:
    """Ranks lead to what they wait in, and that to the ranks that are absent: few edges in large groups."""
    graph: dict[Node, list[Node]] = {}
    for wait in waits:
        gate: Node = (wait.group, wait.absent)
        graph.setdefault(wait.rank, []).append(gate)
        if gate not in graph:
            graph[gate] = list(wait.absent)
    return graph


def _ends(graph: Mapping[Node, Sequence[Node]]) -> Iterable[list[int]]:
    """The ranks of each component that nothing leads out of."""
    for component in components(graph):
        inside = set(component)
        if all(target in inside for node in component for target in graph.get(node, ())):
            yield sorted(node for node in component if isinstance(node, int))


def _stands(gang: Gang, rank: int) -> bool:
    """Whether the rank waits in something that none of its peers has completed."""
    dump = gang.dumps.get(rank)
    return dump is not None and bool(dump.first or dump.transfers) and not gang.is_left_behind(rank)
