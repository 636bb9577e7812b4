"""What is known of nodes: silent, gone, or fine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.node_signals import NodeSignals

UNREACHABLE_TAINT = "node.kubernetes.io/unreachable"
OUT_OF_SERVICE_TAINT = "node.kubernetes.io/out-of-service"
# A node that was looked up one by one (no watch has told of it) is believed for this long.
LOOKUP_SECONDS = 5.0


class NodeFacts(Struct, frozen=True, kw_only=True):
    """silent: its kubelet cannot be asked. gone: deleted or declared out of service, so nothing runs there."""

    silent: bool = False
    gone: bool = False


FINE = NodeFacts()
GONE = NodeFacts(silent=True, gone=True)


def node_facts(node: dict[str, Any]) -> NodeFacts:
    """The facts in a node object. A kubelet that says NotReady itself is not silent."""
    taints = {taint.get("key") for taint in (node.get("spec") or {}).get("taints") or []}
    conditions = (node.get("status") or {}).get("conditions") or []
    unknown = any(entry.get("type") == "Ready" and entry.get("status") == "Unknown" for entry in conditions)
    return NodeFacts(silent=unknown or UNREACHABLE_TAINT in taints, gone=OUT_OF_SERVICE_TAINT in taints)


class Nodes:
    """Nodes as the watch shows them. Bad news is only believed after asking the API server itself.

    signals: what others say of them. clock: monotonic seconds. May raise Unreachable where it asks.
    """

    def __init__(self, api: Api, clock: Callable[[], float]) -> None:
        self._api = api
        self._clock = clock
        self.signals = NodeSignals(api, clock)
        self._watched: dict[str, NodeFacts] = {}
        self._asked: dict[str, tuple[float, NodeFacts]] = {}

    def watched(self, name: str, node: dict[str, Any] | None) -> bool:
        """Take in what the watch says (None: deleted); returns whether that changes the facts."""
        facts = GONE if node is None else node_facts(node)
        said = self.signals.watched(name, node)
        changed = said or self._watched.get(name, FINE) != facts
        if node is None:
            self._watched.pop(name, None)
        else:
            self._watched[name] = facts
        return changed

    async def facts(self, names: Iterable[str]) -> dict[str, NodeFacts]:
        """The facts of each of these nodes."""
        return {name: await self._facts_of(name) for name in sorted(set(names))}

    async def _facts_of(self, name: str) -> NodeFacts:
        if self._watched.get(name) == FINE:
            return FINE
        now = self._clock()
        moment, facts = self._asked.get(name, (float("-inf"), FINE))
        if now - moment < LOOKUP_SECONDS and facts == FINE:
            return facts
        facts = await self._ask(name)
        self._asked = {known: entry for known, entry in self._asked.items() if now - entry[0] < LOOKUP_SECONDS}
        self._asked[name] = (now, facts)
        return facts

    async def _ask(self, name: str) -> NodeFacts:
        try:
            node = await self._api.find(paths.node(name))
        except Rejected:
            # No right to look at nodes: nothing is known, and nothing bad may be concluded.
            return FINE
        return GONE if node is None else node_facts(node)
