"""The operator process: connects, serves, waits to lead, leads, and stops cleanly."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import Any, cast

import kopf
import structlog
from aiohttp import web
from kubernetes.aio.client import ApiClient, Configuration

from hedgerow_operator.adapters.exporters.scraper import Scraper
from hedgerow_operator.adapters.kube import paths
from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.connection import load_configuration, make_client
from hedgerow_operator.adapters.kube.elsewhere import LocalElsewhere
from hedgerow_operator.adapters.kube.exporters import KubeExporters
from hedgerow_operator.adapters.kube.gpu_nodes import KubeGPUNodes
from hedgerow_operator.adapters.kube.jobs import KubeJobs
from hedgerow_operator.adapters.kube.leader import LeaseLeadership
from hedgerow_operator.adapters.kube.node_taints import KubeNodeTaints
from hedgerow_operator.adapters.kube.nodes import Nodes
from hedgerow_operator.adapters.kube.runtime import KubeRuntime
from hedgerow_operator.adapters.kube.token_review import AgentReviews, Reviews, TokenReviews
from hedgerow_operator.adapters.slurm.agent_tokens import AgentTokens
from hedgerow_operator.adapters.slurm.report_tokens import ByPlace
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.endpoint_side import EndpointSide
from hedgerow_operator.handlers.login import make_login
from hedgerow_operator.handlers.residents import Residents
from hedgerow_operator.handlers.watches import make_registry, make_settings
from hedgerow_operator.leading import Leading
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.reconcile.engine import Reconciler, connect
from hedgerow_operator.reconcile.nodes import NodeReconciler
from hedgerow_operator.reconcile.ports import JobKey, Runtime, Unreachable
from hedgerow_operator.reconcile.pressure import Pressure
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.reconcile.taints import Tainting
from hedgerow_operator.server.app import make_app, make_runner
from hedgerow_operator.server.auth import AgentClaim, Authenticator, LauncherClaim
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.intake import Agents
from hedgerow_operator.server.listening import BACKLOG, listen, prepare
from hedgerow_operator.server.metrics import Metrics
from hedgerow_operator.settings import Settings
from hedgerow_operator.slurm_side import SlurmSide

STOPPED = 0
FAULT = 1
LOST_LEASE = 3
RETRY_SECONDS = 2.0
RELIST_SECONDS = 300.0
ACQUAINTANCE_SECONDS = 10.0
NODE_READS = 3
TAINT_SECONDS = 10.0

log = structlog.get_logger("hedgerow")


def _boot_clock() -> float:
    """Seconds that go on while the machine sleeps: a process that was away must see that time has passed."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _report_fault(key: JobKey, error: Exception) -> None:
    log.error("a pass over a job failed", namespace=key.namespace, job=key.name, exc_info=error)


def _report_node_fault(key: JobKey, error: Exception) -> None:
    log.error("a pass over a node failed", node=key.name, exc_info=error)


class Operator:
    """Everything of one process, wired up."""

    def __init__(self, settings: Settings, configuration: Configuration, client: ApiClient) -> None:
        self.settings = settings
        self.configuration = configuration
        self.free = Api(client)  # may write without the Lease: the Lease itself, and token reviews
        self.lease = LeaseLeadership(self.free, settings.home, settings.lease, settings.identity, _boot_clock)
        self.leading = Leading(self.lease)
        guarded = Api(client, self.lease.holds)
        self.jobs = KubeJobs(guarded, time.time)
        self.nodes = Nodes(guarded, time.monotonic)
        self.metrics = Metrics()
        self.health = Health(time.monotonic)
        self.pressure = Pressure()
        self.hub = ReportHub(clock=self.leading.seconds, pressure=self.pressure)
        self.agents = AgentHub(clock=self.leading.seconds, pressure=self.pressure)
        runtime, elsewhere = KubeRuntime(guarded, self.nodes, settings.injection, time.time), LocalElsewhere()
        self.stored_nodes = KubeGPUNodes(
            guarded, time.time, lambda node: self.slurm_agents.site_of(node) if self.slurm_agents else ""
        )
        self.slurm_agents: AgentTokens | None = None
        self.gpu_nodes = NodeReconciler(
            self.stored_nodes,
            self.agents,
            self.lease,
            time.time,
            self.leading.seconds,
            settings.node_rules,
        )
        self.metrics.count_nodes = self.gpu_nodes.states
        self.tainting = (
            Tainting(KubeNodeTaints(guarded), self.gpu_nodes, self.lease, time.time, settings.taint_rules)
            if settings.taint_rules
            else None
        )
        found, rules = self.gpu_nodes, settings.exporters
        self.scraper = (
            Scraper(KubeExporters(guarded, rules), self.agents, rules, found.xids, time.monotonic, time.time)
            if rules
            else None
        )
        watching, namespaces = self.health.watching, settings.namespaces
        self.slurm = (
            SlurmSide(
                guarded,
                self.lease,
                namespaces,
                watching,
                self.jobs,
                self._look_at,
                self.gpu_nodes.quarantines,
                self.gpu_nodes.site_of,
            )
            if settings.slurm
            else None
        )
        on_slurm = self.slurm.jobs_runtime if self.slurm else elsewhere

        def runtime_for(job: TrainingJob) -> Runtime:
            if job.spec.kubernetes:
                return runtime
            return on_slurm if job.spec.slurm and job.spec.slurm.cluster_ref else elsewhere

        engine = Reconciler(
            jobs=self.jobs,
            runtime_for=runtime_for,
            hub=self.hub,
            leadership=self.lease,
            clock=time.time,
            metrics=self.metrics,
            machines=self.gpu_nodes,
            signals=self.nodes.signals,
            farewell=self.slurm.farewell if self.slurm else None,
        )
        self.metrics.communication = engine.communication
        self.queue = WorkQueue(self.health.watching(engine.reconcile), on_error=_report_fault)
        connect(self.hub, engine, self.queue)
        self.residents = Residents()
        self.endpoints = (
            EndpointSide(guarded, self.lease, settings.namespaces, settings.gateway_url, settings.gateway_account)
            if settings.gateway_account
            else None
        )
        self.node_queue = WorkQueue(self.health.watching(self.gpu_nodes.reconcile), on_error=_report_node_fault)
        self.agents.on_news = lambda node: self.node_queue.add(JobKey("", node))
        self.gpu_nodes.on_quarantine = self._look_at_jobs_on

    async def serve(self) -> web.AppRunner:
        """Start the report server; a standby serves health and metrics, and refuses reports."""
        prepare()
        reviews, account = Reviews(self.free, time.monotonic), self.settings.agent_account
        on_nodes: Authenticator[AgentClaim] | None = AgentReviews(reviews, account) if account else None
        if self.slurm:
            self.slurm_agents = AgentTokens(self.slurm.agent_sites, self.stored_nodes.owner, on_nodes)
            on_nodes = self.slurm_agents
        agents = Agents(self.agents, on_nodes) if on_nodes else None
        launchers: Authenticator[LauncherClaim] = TokenReviews(reviews)
        if self.slurm:
            launchers = ByPlace(self.slurm.tokens, launchers)
        app = make_app(self.hub, launchers, self.leading, self.metrics, self.health, agents)
        if self.endpoints:
            self.endpoints.serve(app, reviews)
        runner = make_runner(app)
        await runner.setup()
        socket = listen(self.settings.listen_host, self.settings.listen_port)
        await web.SockSite(runner, socket, backlog=BACKLOG).start()
        log.info("listening", host=self.settings.listen_host, port=self.settings.listen_port)
        return runner

    async def lead(self) -> None:
        """Wait for the Lease, act while it is ours, and return once it is lost."""
        await self._wait_for_kinds()
        self.health.synced = True
        log.info(
            "waiting to lead", lease=f"{self.settings.home}/{self.settings.lease}", identity=self.settings.identity
        )
        await self.lease.acquire()
        self.leading.begin()
        await self._know_nodes()
        log.info("leading", identity=self.settings.identity)
        work = {
            asyncio.create_task(part)
            for part in (
                self.lease.keep(),
                self.queue.run(),
                self.node_queue.run(),
                self.pressure.run(),
                self._list(),
                self._list_nodes(),
                self._taint(),
                self._watch(),
                *([self.scraper.run()] if self.scraper else ()),
                *([self.slurm.run()] if self.slurm else ()),
                *([self.endpoints.run()] if self.endpoints else ()),
            )
        }
        try:
            done, _pending = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await _cancel(*work)

    async def _wait_for_kinds(self) -> None:
        """Until the TrainingJob kind is served: kopf would not notice one that comes later."""
        said = ""
        while True:
            try:
                await self.free.get(paths.OUR_API)
                return
            except (Unreachable, Rejected) as error:
                if str(error) != said:
                    said = str(error)
                    log.warning("waiting for the TrainingJob kind; are the CRDs installed?", error=said)
            await asyncio.sleep(RETRY_SECONDS)

    async def _list(self) -> None:
        """Look at every job now, then answer reports; and again from time to time, should a watch have missed one."""
        while True:
            try:
                known = await self.jobs.existing(self.settings.namespaces)
            except Unreachable as error:
                log.warning("jobs cannot be listed", error=str(error))
                await asyncio.sleep(RETRY_SECONDS)
                continue
            for key in known:
                self.queue.add(key)
            if not self.leading.acquainted:
                await self._get_acquainted(known)
                self.leading.acquainted = True
            await asyncio.sleep(RELIST_SECONDS)

    async def _list_nodes(self) -> None:
        """Look at every GPUNode, now and from time to time. Where no agents report there are none."""
        while True:
            wait = RELIST_SECONDS
            try:
                for key in await self.gpu_nodes.load() if self.settings.hears_nodes else ():
                    self.node_queue.add(key)
            except Unreachable as error:
                log.warning("GPUNodes cannot be listed", error=str(error))
                wait = RETRY_SECONDS
            await asyncio.sleep(wait)

    async def _taint(self) -> None:
        """Taint quarantined nodes where that is wanted; else nothing, for ever."""
        while True:
            if self.tainting is not None:
                try:
                    await self.tainting.look()
                except Unreachable as error:
                    log.warning("nodes are not tainted", error=str(error))
            await asyncio.sleep(TAINT_SECONDS)

    async def _know_nodes(self) -> None:
        """Before anything is placed: which nodes are quarantined. Without the right to read that, jobs go on."""
        for attempt in range(NODE_READS if self.settings.hears_nodes else 0):
            try:
                await self.gpu_nodes.load()
                return
            except Unreachable as error:
                log.warning("GPUNodes cannot be listed", error=str(error))
            if attempt + 1 < NODE_READS:
                await asyncio.sleep(RETRY_SECONDS)

    def _look_at(self, key: JobKey) -> None:
        self.queue.add(key)

    def _look_at_jobs_on(self, node: str) -> None:
        for key in (*self.residents.on(node), *(self.slurm.tokens.jobs() if self.slurm else ())):
            self.queue.add(key)

    async def _get_acquainted(self, known: dict[JobKey, str]) -> None:
        """Wait until each of these jobs has been looked at, but not for ever: one of them may be deleted by now."""
        deadline = time.monotonic() + ACQUAINTANCE_SECONDS
        # The hub tells nobody of new jobs, and this happens once.
        while time.monotonic() < deadline and not all(map(self.hub.uid_known, known.values())):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _watch(self) -> None:
        registry = make_registry(
            self.queue,
            self.nodes,
            make_login(self.configuration),
            self.residents,
            watch_nodes=await self._may_watch_nodes(),
            clusters=self.slurm.queue if self.slurm else None,
        )
        namespaces = self.settings.namespaces
        await kopf.operator(
            registry=registry,
            settings=make_settings(),
            # kopf would make one from the user's name, and the user of a container need not have one.
            identity=cast("Any", self.settings.identity),
            standalone=True,
            clusterwide=not namespaces,
            namespaces=namespaces,
        )

    async def _may_watch_nodes(self) -> bool:
        """Nodes are seen by everybody in cluster mode; in namespaced mode the right may have been withheld."""
        try:
            await self.free.get(f"{paths.NODES}?limit=1")
        except Rejected as error:
            log.warning("nodes cannot be watched, so a dead one is not told from a slow one", error=str(error))
            return False
        except Unreachable:
            return True
        return True


async def operate(settings: Settings) -> int:
    """Run until SIGTERM, SIGINT or the loss of the Lease; returns the exit status. Raises NotConfigured."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    configuration = await load_configuration()
    client = make_client(configuration)
    operator = Operator(settings, configuration, client)
    runner = await operator.serve()
    leading = asyncio.create_task(operator.lead())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({leading, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return _end(operator, leading, stop)
    finally:
        await _cancel(leading, stopping)
        await operator.lease.release()
        await runner.cleanup()
        await client.close()  # type: ignore[no-untyped-call]


def _end(operator: Operator, leading: asyncio.Task[None], stop: asyncio.Event) -> int:
    """The exit status, and a word about why. kopf answers signals too: then leading ends while the Lease is ours."""
    error = leading.exception() if leading.done() else None
    if error is not None:
        log.error("stopping because of a fault", exc_info=error)
        return FAULT
    if leading.done() and not stop.is_set() and not operator.lease.holds():
        log.error("lost the Lease; stopping, so that only one operator acts")
        return LOST_LEASE
    log.info("stopping")
    return STOPPED


async def _cancel(*tasks: asyncio.Task[None] | asyncio.Task[bool]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
