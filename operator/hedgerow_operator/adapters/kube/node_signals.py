"""Which nodes others speak against, for all that some job listens to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.api.node_signals import NodeSignalSpec
from hedgerow_operator.core.nodes.signals import NodeLooks, Signal, sentence, signals_of

# Without a watch on nodes they are listed this often, while a job wants to know.
LIST_SECONDS = 30.0
# What jobs that are gone wanted is forgotten beyond this many.
MAX_WANTED = 1000


def node_looks(node: dict[str, Any]) -> NodeLooks:
    """What others write on a node object."""
    conditions = (node.get("status") or {}).get("conditions") or []
    return NodeLooks(
        conditions={
            entry["type"]: (entry.get("status") or "", entry.get("reason") or "")
            for entry in conditions
            if "type" in entry
        },
        taints=frozenset(taint.get("key") or "" for taint in (node.get("spec") or {}).get("taints") or []),
        labels=(node.get("metadata") or {}).get("labels") or {},
    )


class NodeSignals:
    """Implements reconcile.ports.Signals. clock: monotonic seconds.

    Costs nothing while no job listens. Of each node only what some job wants to know is kept: most say none of it.
    """

    def __init__(self, api: Api, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock
        self._wanted: frozenset[Signal] = frozenset()
        self._said: dict[str, dict[Signal, str]] = {}
        self._listed = float("-inf")
        self._watching = False
        self._news: set[str] = set()
        self._lock = asyncio.Lock()

    def watched(self, name: str, node: dict[str, Any] | None) -> bool:
        """Take in what the watch says (None: deleted); returns whether it says something else against the node."""
        self._watching = True
        self._news.add(name)
        return self._note(name, node)

    async def against(self, specs: Iterable[NodeSignalSpec]) -> Mapping[str, str]:
        """Sentences by node. Without the right to look there are none. Raises Unreachable."""
        signals = signals_of(specs)
        if not signals:
            return {}
        async with self._lock:
            if not self._current(signals):
                await self._list(signals)
        found = {}
        for name, said in self._said.items():
            sentences = [said[signal] for signal in signals if signal in said]
            if sentences:
                found[name] = "; ".join(sentences)
        return found

    def _current(self, signals: tuple[Signal, ...]) -> bool:
        age = self._clock() - self._listed
        return self._wanted.issuperset(signals) and (age < LIST_SECONDS or (self._watching and age < float("inf")))

    async def _list(self, signals: tuple[Signal, ...]) -> None:
        """What the watch says meanwhile is newer than what is listed."""
        known = self._wanted if len(self._wanted) < MAX_WANTED else frozenset[Signal]()
        self._wanted, self._listed = known.union(signals), float("-inf")
        self._said, self._news = {}, set()
        try:
            async for page in self._api.pages(paths.NODES):
                for node in page:
                    name = node["metadata"]["name"]
                    if name not in self._news:
                        self._note(name, node)
        except Rejected:
            self._said = {}
        self._listed = self._clock()

    def _note(self, name: str, node: dict[str, Any] | None) -> bool:
        if not self._wanted:
            return False
        looks = NodeLooks() if node is None else node_looks(node)
        said = {signal: text for signal in self._wanted if (text := sentence(signal, looks))}
        old = self._said.pop(name, {})
        if said:
            self._said[name] = said
        return old != said
