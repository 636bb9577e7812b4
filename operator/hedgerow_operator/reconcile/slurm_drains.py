"""Drains on Slurm clusters that allow it: from time to time their nodes are read, and what differs is changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.core.nodes.taints import TaintRules
from hedgerow_operator.core.slurm.drains import decide_drains
from hedgerow_operator.core.slurm.seen import SlurmNode
from hedgerow_operator.reconcile.ports import JobKey, Leadership, Refused, Unreachable


class Drainable(Protocol):
    """One cluster whose nodes may be drained. Every method may raise Unreachable, those that write Refused too."""

    async def nodes(self) -> Sequence[SlurmNode]:
        """Every node."""

    async def drain(self, node: str, reason: str) -> None:
        """Let nothing new begin there; what runs goes on."""

    async def resume(self, node: str) -> None:
        """Undo a drain."""


class Drainables(Protocol):
    """Where they are."""

    async def drainable(self) -> Iterable[tuple[JobKey, Drainable]]:
        """Every cluster that allows it, by its name. Raises Unreachable."""


class Draining:
    """quarantines: of every node; None: not known yet. site_of: the cluster, as namespace/name, whose node a
    quarantine is about; "": not said. told: called once with each sentence that people should know."""

    def __init__(
        self,
        clusters: Drainables,
        quarantines: Callable[[], Mapping[str, Quarantine] | None],
        leadership: Leadership,
        told: Callable[[JobKey, str], None],
        rules: TaintRules | None = None,
        site_of: Callable[[str], str] = lambda node: "",
    ) -> None:
        self._clusters = clusters
        self._quarantines = quarantines
        self._leadership = leadership
        self._told = told
        self._rules = rules or TaintRules()
        self._site_of = site_of
        self._said: set[tuple[JobKey, str]] = set()
        self._done: dict[tuple[JobKey, str], str] = {}

    async def look(self) -> None:
        """One look at all clusters. Raises Unreachable: what is left is for the next look."""
        quarantines = self._quarantines()
        if quarantines is None or not self._leadership.holds():
            return
        for key, cluster in await self._clusters.drainable():
            try:
                await self._look_at(key, cluster, quarantines)
            except (Refused, Unreachable) as error:
                self._say(key, str(error))

    async def _look_at(self, key: JobKey, cluster: Drainable, quarantines: Mapping[str, Quarantine]) -> None:
        done = {node: since for (known, node), since in self._done.items() if known == key}
        foreign = {node for node in quarantines if self._site_of(node) not in ("", f"{key.namespace}/{key.name}")}
        plan = decide_drains(quarantines, await cluster.nodes(), done, self._rules, foreign)
        for node in plan.resume:
            await cluster.resume(node)
        for node, reason in plan.drain.items():
            await cluster.drain(node, reason)
            self._done[key, node] = quarantines[node].since

    def _say(self, key: JobKey, sentence: str) -> None:
        if (key, sentence) not in self._said:
            self._said.add((key, sentence))
            self._told(key, sentence)
