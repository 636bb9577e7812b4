"""Taints on quarantined nodes: from time to time what is there is read, and what differs is changed."""

import contextlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Protocol

from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.core.nodes.taints import Mark, TaintRules, decide_taints
from hedgerow_operator.reconcile.nodes import NodeReconciler
from hedgerow_operator.reconcile.ports import Conflict, Leadership, Unreachable


class NodeTaints(Protocol):
    """Where taints live. Every method may raise Unreachable, those that write Conflict too."""

    async def marks(self) -> Mapping[str, Mark]:
        """Of every node that carries our mark."""

    async def taint(self, name: str, quarantine: Quarantine, until: float) -> None:
        """Put mark and taint on; nothing where somebody else's is there already, or the node is gone."""

    async def release(self, name: str) -> None:
        """Take our taint off, keep the mark."""

    async def clear(self, name: str) -> None:
        """Take our taint and the mark off."""


class Tainting:
    """clock: seconds since the epoch."""

    def __init__(
        self,
        taints: NodeTaints,
        nodes: NodeReconciler,
        leadership: Leadership,
        clock: Callable[[], float],
        rules: TaintRules,
    ) -> None:
        self._taints = taints
        self._nodes = nodes
        self._leadership = leadership
        self._clock = clock
        self._rules = rules

    async def look(self) -> None:
        """One look at all nodes. Raises Unreachable: what is left is for the next look."""
        marks = await self._taints.marks()
        quarantines = self._nodes.quarantines()
        if quarantines is None:
            return
        now = self._clock()
        plan = decide_taints(quarantines, marks, self._nodes.fleet, self._rules, now)
        for name in plan.clear:
            await self._unless_changed(self._taints.clear(name))
        for name in plan.release:
            await self._unless_changed(self._taints.release(name))
        for name in plan.taint:
            until = now + self._rules.expiry_seconds
            await self._unless_changed(self._taints.taint(name, quarantines[name], until))

    async def _unless_changed(self, call: Coroutine[None, None, None]) -> None:
        """What somebody else changed meanwhile is read anew at the next look."""
        if not self._leadership.holds():
            call.close()
            raise Unreachable("this operator does not lead any more")
        with contextlib.suppress(Conflict):
            await call
