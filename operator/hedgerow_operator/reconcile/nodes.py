"""One pass over one GPUNode: what its agent says, decided and written; and what jobs ask of nodes.

Stored objects are read when this operator begins to lead, from time to time, and after a conflict: in steady state a
node costs no call at all.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Protocol

from hedgerow.wire_agent import AgentReport
from hedgerow_operator.api import gpu_node
from hedgerow_operator.api.conditions import TRUE, find_condition
from hedgerow_operator.api.gpu_node import GPUNode, GPUNodeStatus, Quarantine
from hedgerow_operator.api.labels import ANNOTATION_SLURM_CLUSTER
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core.nodes.decide import decide
from hedgerow_operator.core.nodes.findings import fatal
from hedgerow_operator.core.nodes.seen import NodeRules, NodeSeen, many_silent
from hedgerow_operator.core.nodes.telling import events
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Leadership, Unreachable

# A node's status is written at most this often.
WRITE_SECONDS = 10.0
RETRY_SECONDS = 2.0
CONFLICT_SECONDS = 0.05
# How many agents are silent is counted anew at most this often: there may be ten thousand of them.
COUNT_SECONDS = 1.0


class GPUNodes(Protocol):
    """Where GPUNode objects live. Every method may raise Unreachable."""

    async def existing(self) -> list[GPUNode]:
        """Every one that is not being deleted."""

    async def get(self, name: str) -> GPUNode | None:
        """The one of this name as stored now."""

    async def create(self, name: str) -> GPUNode | None:
        """Create the one of this node, to go with it; None: there is no such node. There already is fine."""

    async def write_status(self, node: GPUNode, status: GPUNodeStatus) -> GPUNode:
        """Store the status guarded by the resourceVersion; returns the node as stored. Raises Conflict."""

    async def record(self, node: GPUNode, event: Event) -> None:
        """Tell people. Never raises: an event that is lost harms nothing."""


class NodeReconciler:
    """Level-triggered, as the one of jobs. on_quarantine: called with a node that is quarantined, or not any more.

    write_seconds: from one write of a node's status to the next.
    """

    def __init__(
        self,
        nodes: GPUNodes,
        hub: AgentHub,
        leadership: Leadership,
        clock: Callable[[], float],
        listening: Callable[[], float],
        rules: NodeRules,
        stopwatch: Callable[[], float] = monotonic,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        self._nodes = nodes
        self._hub = hub
        self._leadership = leadership
        self._clock = clock
        self._listening = listening
        self._rules = rules
        self._stopwatch = stopwatch
        self._write_seconds = write_seconds
        self._known: dict[str, GPUNode] = {}
        self._loaded = False
        self._written: dict[str, float] = {}
        self._quarantined: dict[str, str] = {}
        self._sick: dict[str, AgentReport] = {}
        self._silent: tuple[float, str] = (float("-inf"), "")
        self.on_quarantine: Callable[[str], None] = lambda node: None

    async def load(self) -> tuple[JobKey, ...]:
        """Read every stored node; returns what there is to look at. Raises Unreachable."""
        self._known = {node.metadata.name: node for node in await self._nodes.existing()}
        self._loaded = True
        self._quarantined = {
            name: node.status.quarantine.reason for name, node in self._known.items() if node.status.quarantine
        }
        return tuple(JobKey("", name) for name in sorted({*self._known, *self._hub.nodes()}))

    def sick(self, names: Iterable[str]) -> Mapping[str, AgentReport]:
        """The newest reports of those of these nodes whose agent has found something fatal."""
        return {name: self._sick[name] for name in names if name in self._sick} if self._sick else {}

    def reports(self, names: Iterable[str]) -> Mapping[str, AgentReport]:
        """The newest reports of the agents of these nodes; of silent ones none."""
        found = {name: self._hub.newest(name) for name in names}
        limit = self._rules.silent_seconds
        return {name: heard.report for name, heard in found.items() if heard is not None and heard.age <= limit}

    @property
    def fleet(self) -> int:
        """How many nodes there are."""
        return len(self._known)

    def states(self) -> Mapping[str, int]:
        """How many nodes are in each state."""
        return Counter(node.status.state for node in self._known.values() if node.status.state)

    def quarantines(self) -> Mapping[str, Quarantine] | None:
        """Of every node that is quarantined; None: the stored nodes have not been read yet."""
        if not self._loaded:
            return None
        found = ((name, node.status.quarantine) for name, node in self._known.items())
        return {name: entry for name, entry in found if entry is not None}

    def site_of(self, name: str) -> str:
        """namespace/name of the SlurmCluster whose node it is; "": no GPUNode says so."""
        node = self._known.get(name)
        return node.metadata.annotations.get(ANNOTATION_SLURM_CLUSTER, "") if node else ""

    def xids(self, name: str) -> Mapping[int, tuple[int, float]]:
        """What the GPUNode says of its GPUs: index -> code of the last Xid, and the seconds since it was first seen."""
        node = self._known.get(name)
        told = [(gpu.index, gpu.xid) for gpu in node.status.gpus] if node else []
        return {index: (xid.code, self._clock() - parse_time(xid.since)) for index, xid in told if xid is not None}

    def quarantined(self) -> Mapping[str, str]:
        """The nodes that new attempts avoid, and why in a word."""
        return self._quarantined

    async def reconcile(self, key: JobKey) -> float | None:
        """One pass; returns in how many seconds to look again, None when only a report can matter."""
        try:
            return await self._pass(key.name)
        except Conflict:
            self._known.pop(key.name, None)
            return CONFLICT_SECONDS
        except Unreachable:
            return RETRY_SECONDS

    async def _pass(self, name: str) -> float | None:
        if not self._leadership.holds():
            return RETRY_SECONDS
        heard = self._hub.newest(name)
        node = self._known.get(name) or await self._found(name, heard is not None)
        if node is None:
            self._forget(name)
            return None
        seen = NodeSeen(
            report=heard.report if heard else None,
            age=heard.age if heard else None,
            listening_seconds=self._listening(),
            others=self._others(),
        )
        if seen.report is not None and seen.age is not None and seen.age <= self._rules.silent_seconds:
            self._note_sick(name, seen.report)
        else:
            self._hub.miss(name)
        plan = decide(node.status, seen, self._rules, self._clock())
        self._note(name, plan.status)
        wait = await self._write(node, plan.status)
        return min(plan.look_again, wait) if wait else plan.look_again

    async def _found(self, name: str, heard: bool) -> GPUNode | None:
        """The node as stored; made if its agent is heard."""
        node = await self._nodes.get(name)
        if node is None and heard:
            node = await self._nodes.create(name)
        if node is not None:
            self._known[name] = node
        return node

    async def _write(self, node: GPUNode, status: GPUNodeStatus) -> float:
        """Seconds until it may be written, where that has to wait; 0: there is nothing to write any more."""
        if status == node.status:
            return 0.0
        name, now = node.metadata.name, self._stopwatch()
        wait = self._written.get(name, float("-inf")) + self._write_seconds - now
        if wait > 0:
            return wait
        if not self._leadership.holds():
            raise Unreachable("this operator does not lead any more")
        self._known[name] = await self._nodes.write_status(node, status)
        self._written[name] = now
        for event in events(node.status, status):
            await self._nodes.record(node, event)
        return 0.0

    def _note_sick(self, name: str, report: AgentReport) -> None:
        if fatal(report):
            self._sick[name] = report
        else:
            self._sick.pop(name, None)

    def _note(self, name: str, status: GPUNodeStatus) -> None:
        """What holds for jobs, at once: the write may have to wait."""
        if status.quarantine is None:
            self._sick.pop(name, None)
        old, new = self._quarantined.get(name), status.quarantine.reason if status.quarantine else None
        if old == new:
            return
        if new is None:
            del self._quarantined[name]
        else:
            self._quarantined[name] = new
        self.on_quarantine(name)

    def _forget(self, name: str) -> None:
        self._hub.forget(name)
        self._written.pop(name, None)
        self._sick.pop(name, None)
        if self._quarantined.pop(name, None) is not None:
            self.on_quarantine(name)

    def _others(self) -> str:
        counted, words = self._silent
        now = self._stopwatch()
        if now - counted >= COUNT_SECONDS:
            words = many_silent(self._ages(), self._rules.silent_seconds)
            self._silent = (now, words)
        return words

    def _ages(self) -> Iterable[float | None]:
        """Of those that were not known to be silent already."""
        for name in {*self._known, *self._hub.nodes()}:
            node = self._known.get(name)
            gone = find_condition(node.status.conditions, gpu_node.UNREACHABLE) if node else None
            age = self._hub.age(name)
            if age is not None or gone is None or gone.status != TRUE:
                yield age
