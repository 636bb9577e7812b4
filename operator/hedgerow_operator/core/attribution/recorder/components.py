"""Strongly connected components of a directed graph (Tarjan 1972), without recursion: a chain may be long."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(graph: Mapping[Node, Sequence[Node]]) -> Iterator[list[Node]]:
    """Every component, those that nothing leads out of first. Nodes that are only led to count as nodes."""
    search = _Search(graph)
    for node in graph:
        if node not in search.lowest:
            yield from search.walk(node)


class _Search(Generic[Node]):
    def __init__(self, graph: Mapping[Node, Sequence[Node]]) -> None:
        self.graph = graph
        self.lowest: dict[Node, int] = {}
        self.number: dict[Node, int] = {}
        self.open: dict[Node, None] = {}

    def walk(self, root: Node) -> Iterator[list[Node]]:
        path = [(root, self._enter(root))]
        while path:
            node, targets = path[-1]
            target = next(targets, None)
            if target is None:
                path.pop()
                if path:
                    parent = path[-1][0]
                    self.lowest[parent] = min(self.lowest[parent], self.lowest[node])
                if self.lowest[node] == self.number[node]:
                    yield self._close(node)
            elif target not in self.number:
                path.append((target, self._enter(target)))
            elif target in self.open:
                self.lowest[node] = min(self.lowest[node], self.number[target])

    def _enter(self, node: Node) -> Iterator[Node]:
        self.number[node] = self.lowest[node] = len(self.number)
        self.open[node] = None
        return iter(self.graph.get(node, ()))

    def _close(self, node: Node) -> list[Node]:
        component: list[Node] = []
        while True:
            member, _ = self.open.popitem()
            component.append(member)
            if member == node:
                return component
