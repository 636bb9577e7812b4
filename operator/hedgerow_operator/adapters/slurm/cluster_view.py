"""What one Slurm cluster shows, asked once for all jobs: whoever may use a listing of its age shares it."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from time import monotonic

from msgspec import Struct

from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.core.slurm.comments import read_comment
from hedgerow_operator.core.slurm.node_facts import GONE, NodeFacts, node_facts
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode
from hedgerow_operator.reconcile.ports import Unreachable

# How often jobs are listed: in calm, and while something was asked for and is not seen yet.
CALM_SECONDS = 5.0
BUSY_SECONDS = 1.0
# Nodes under jobs that run need not be looked at as often.
NODES_SECONDS = 15.0


class Listing(Struct, frozen=True, kw_only=True):
    """Every job of ours by uid, with the attempt in its comment. begun: monotonic seconds when it was asked for."""

    begun: float
    jobs: Mapping[str, tuple[tuple[int, SlurmJob], ...]]


class NodeListing(Struct, frozen=True, kw_only=True):
    """Every node. begun: as in Listing. answering: since when each has answered, as far as it was looked at."""

    begun: float
    nodes: Mapping[str, SlurmNode]
    facts: Mapping[str, NodeFacts]
    answering: Mapping[str, float]

    def of(self, name: str) -> NodeFacts:
        """The facts of one node."""
        return self.facts.get(name, GONE)


class ClusterView:
    """See the module. stopwatch: monotonic seconds. on_change: called with the uid of a job that looks different."""

    def __init__(
        self,
        driver: Driver,
        stopwatch: Callable[[], float] = monotonic,
        on_change: Callable[[str], None] = lambda uid: None,
    ) -> None:
        self.driver = driver
        self.on_change = on_change
        self._stopwatch = stopwatch
        self._listing: Listing | None = None
        self._nodes: NodeListing | None = None
        self._jobs_lock, self._nodes_lock = asyncio.Lock(), asyncio.Lock()
        self._not_before = float("-inf")
        self._busy: dict[str, bool] = {}
        self._told: dict[str, object] = {}
        self._wake = asyncio.Event()

    def follow(self, uid: str, busy: bool) -> None:
        """Tell of changes of this job from now on. busy: something of it is awaited."""
        if busy and not self._busy.get(uid):
            self._wake.set()
        self._busy[uid] = busy

    def forget(self, uid: str) -> None:
        """Nobody asks for this job any more."""
        self._busy.pop(uid, None)
        self._told.pop(uid, None)

    def changed(self) -> None:
        """Something was just asked for: what was listed before does not show it."""
        self._not_before = self._stopwatch()
        self._wake.set()

    @property
    def period(self) -> float:
        """Seconds between two listings."""
        return BUSY_SECONDS if any(self._busy.values()) else CALM_SECONDS

    async def jobs(self, oldest: float | None = None) -> Listing:
        """A listing at most ``oldest`` seconds old (None: the period), newer than any change. Raises Unreachable."""
        begun = self._stopwatch() - (self.period if oldest is None else oldest)
        async with self._jobs_lock:
            known = self._listing
            if known is None or known.begun < begun or known.begun <= self._not_before:
                self._listing = known = await self._list()
            return known

    async def fresh_jobs(self) -> Listing:
        """A listing that was asked for after this call. Raises Unreachable."""
        asked = self._stopwatch()
        async with self._jobs_lock:
            if self._listing is None or self._listing.begun <= asked:
                self._listing = await self._list()
            return self._listing

    async def nodes(self, oldest: float = NODES_SECONDS) -> NodeListing:
        """Likewise of nodes."""
        begun = self._stopwatch() - oldest
        async with self._nodes_lock:
            if self._nodes is None or self._nodes.begun < begun:
                self._nodes = await self._list_nodes(self._nodes)
            return self._nodes

    async def known_nodes(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the names that are nodes here: Slurm refuses others, of other clusters or taken out of this one."""
        wanted = tuple(names)
        nodes = (await self.nodes()).nodes if wanted else {}
        return tuple(name for name in wanted if name in nodes)

    async def run(self) -> None:
        """Look from time to time, as long as there are jobs to follow; until cancelled."""
        while True:
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self.period)
            if not self._busy:
                continue
            # Whoever cannot decide without an answer asks again, and says so.
            with contextlib.suppress(Unreachable):
                self._tell(await self.jobs(oldest=BUSY_SECONDS / 2))
            await asyncio.sleep(BUSY_SECONDS / 2)

    def _tell(self, listing: Listing) -> None:
        for uid in tuple(self._busy):
            looks = tuple((attempt, _look(job)) for attempt, job in listing.jobs.get(uid, ()))
            if self._told.get(uid) != looks:
                self._told[uid] = looks
                self.on_change(uid)

    async def _list(self) -> Listing:
        begun = self._stopwatch()
        return Listing(begun=begun, jobs=_by_uid(await self.driver.jobs()))

    async def _list_nodes(self, before: NodeListing | None) -> NodeListing:
        begun = self._stopwatch()
        nodes = {node.name: node for node in await self.driver.nodes()}
        facts = {name: node_facts(node) for name, node in nodes.items()}
        known = before.answering if before else {}
        answering = {name: known.get(name, begun) for name, fact in facts.items() if not fact.silent}
        return NodeListing(begun=begun, nodes=nodes, facts=facts, answering=answering)


def _by_uid(jobs: Iterable[SlurmJob]) -> dict[str, tuple[tuple[int, SlurmJob], ...]]:
    found: dict[str, list[tuple[int, SlurmJob]]] = {}
    for job in jobs:
        named = read_comment(job.comment)
        if named is not None:
            found.setdefault(named[0], []).append((named[1], job))
    return {uid: tuple(entries) for uid, entries in found.items()}


def _look(job: SlurmJob) -> tuple[object, ...]:
    return (job.id, job.state, job.flags, job.reason, job.nodes, job.restarts)
