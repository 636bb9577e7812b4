"""What an operator does for jobs on a SlurmCluster, with a store of objects in memory in place of Kubernetes."""

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from hedgerow_operator.adapters.slurm.agent_sites import ClusterAgentSites
from hedgerow_operator.adapters.slurm.clusters import ClusterDrivers
from hedgerow_operator.adapters.slurm.clusters_runtime import ClustersRuntime
from hedgerow_operator.adapters.slurm.report_tokens import ByPlace, ReportTokens
from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.slurm_cluster import SlurmCluster, slurm_cluster
from hedgerow_operator.api.status import TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob, training_job
from hedgerow_operator.cli.session import SoleLeader
from hedgerow_operator.core.plan import Event
from hedgerow_operator.reconcile.engine import Reconciler, connect
from hedgerow_operator.reconcile.ports import Conflict, JobKey
from hedgerow_operator.reconcile.queue import WorkQueue
from hedgerow_operator.reconcile.reports import ReportHub
from hedgerow_operator.reconcile.slurm_jobs import SlurmFarewell
from hedgerow_operator.server.app import make_app, make_runner
from hedgerow_operator.server.auth import Denied, LauncherClaim
from hedgerow_operator.server.health import Health
from hedgerow_operator.server.metrics import Metrics
from tests.slurm.slurm_run import LONGEST_SECONDS, TRAIN
from tests.slurm.small_agents import AGENTS_TOKEN, CLUSTER, SmallAgents
from tests.slurm.testbed.testbed import Testbed

KEY = JobKey("ml", "run")
UID = "5a1b2c3d-0000-4000-8000-000000000001"


class Store:
    """reconcile.slurm_jobs.FinalizedJobs over one job."""

    def __init__(self, job: TrainingJob) -> None:
        self.job: TrainingJob | None = job
        self.events: list[Event] = []

    async def get(self, key: JobKey) -> TrainingJob | None:
        return self.job if key == KEY else None

    async def write_status(self, job: TrainingJob, status: TrainingJobStatus) -> TrainingJob:
        return self._change(job, status=status)

    async def annotate(self, job: TrainingJob, name: str, value: str) -> TrainingJob:
        return self._metadata(job, annotations={**job.metadata.annotations, name: value})

    async def set_finalizers(self, job: TrainingJob, finalizers: tuple[str, ...]) -> TrainingJob:
        changed = self._metadata(job, finalizers=finalizers)
        if changed.metadata.deletion_timestamp is not None and not finalizers:
            self.job = None
        return changed

    async def delete(self, job: TrainingJob) -> None:
        self._metadata(job, deletion_timestamp="2027-01-01T00:00:00Z")

    async def record(self, job: TrainingJob, event: Event) -> None:
        self.events.append(event)

    def _metadata(self, job: TrainingJob, **changes: Any) -> TrainingJob:
        return self._change(job, metadata=msgspec.structs.replace(job.metadata, **changes))

    def _change(self, job: TrainingJob, **changes: Any) -> TrainingJob:
        if self.job is None or self.job.metadata.resource_version != job.metadata.resource_version:
            raise Conflict("the job has changed")
        changed = msgspec.structs.replace(job, **changes)
        version = str(int(job.metadata.resource_version or "0") + 1)
        metadata = msgspec.structs.replace(changed.metadata, resource_version=version)
        self.job = msgspec.structs.replace(changed, metadata=metadata)
        return self.job


class NobodyElse:
    """An authenticator that believes nobody."""

    async def check(self, token: str | None, claim: LauncherClaim) -> None:
        raise Denied("nobody is known")

    def recall(self, token: str, claim: LauncherClaim) -> bool:
        raise Denied("nobody is known")


class SmallOperator:
    """driver, cluster: of the SlurmCluster. token_seconds: how long a token of slurmrestd is good."""

    def __init__(self, testbed: Testbed, folder: Path, token_seconds: int = 3600, **spec: Any) -> None:
        self.testbed, self.folder = testbed, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.store = Store(training_job({"metadata": _METADATA, "spec": _spec(folder, **spec)}))
        self.tokens, self._token_seconds, self.token_reads = ReportTokens(), token_seconds, 0
        self._drivers = ClusterDrivers(self._read_secret, time.time)
        self.agents = SmallAgents(ClusterAgentSites(self, self._drivers, self._read_secret, ()), testbed)
        self.url = ""
        # Kept from run to run, so that it is found at the same address by whoever asks it again.
        self._listener = socket.create_server(("127.0.0.1", 0)).detach()

    async def existing(self, namespaces: tuple[str, ...]) -> tuple[JobKey, ...]:
        """Implements agent_sites.AllClusters."""
        return (CLUSTER,)

    async def get(self, key: JobKey) -> SlurmCluster | None:
        """Implements clusters_runtime.Clusters."""
        return slurm_cluster({
            "metadata": {"name": "hpc", "namespace": "ml"},
            "spec": {
                "driver": "REST", "url": self.testbed.rest_url, "user": "root", "tokenSecretRef": {"name": "slurm"},
                "agentTokenSecretRef": {"name": "agents"}, "reportURL": self.url, "tokenDirectory": str(self.folder),
            },
        })  # fmt: skip

    @property
    def status(self) -> TrainingJobStatus:
        """As it is stored."""
        assert self.store.job is not None
        return self.store.job.status

    def reason(self, kind: str, value: str = "True") -> str:
        """The reason of a condition that has this value; "" while it has not."""
        found = find_condition(self.status.conditions, kind)
        return found.reason if found is not None and found.status == value else ""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["SmallOperator"]:
        """Serves and reconciles for as long as the block lasts."""
        hub, metrics, health, leader = ReportHub(clock=time.monotonic), Metrics(), Health(time.monotonic), SoleLeader()
        runtime = ClustersRuntime(self, self._drivers, self.store, self.tokens, time.time, lambda key: queue.add(key))
        farewell = SlurmFarewell(self.store, runtime)
        engine = Reconciler(
            self.store, lambda job: runtime, hub, leader, time.time, metrics, farewell=farewell,
            machines=self.agents.nodes,
        )  # fmt: skip
        self.agents.nodes.on_quarantine = lambda node: queue.add(KEY)
        faults: list[Exception] = []
        queue = WorkQueue(engine.reconcile, on_error=lambda key, error: faults.append(error))
        self.queue = queue
        connect(hub, engine, queue)
        believed = ByPlace(self.tokens, NobodyElse())
        runner = make_runner(make_app(hub, believed, leader, metrics, health, self.agents.heard))
        await runner.setup()
        await web.SockSite(runner, socket.socket(fileno=os.dup(self._listener))).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        queue.add(KEY)
        working = [asyncio.create_task(part) for part in (queue.run(), self.agents.queue.run(), self.agents.drain())]
        try:
            yield self
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
            await self.agents.tokens.close()
            await runtime.close()
            await self._drivers.close()
            await runner.cleanup()
        assert faults == []

    async def until(self, what: str, probe: Callable[[], object], seconds: float = LONGEST_SECONDS) -> None:
        """Wait with a deadline."""
        deadline = time.monotonic() + seconds
        while not await asyncio.to_thread(probe):
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text()[-1500:] for path in self.folder.rglob("*.log"))
                outputs = "\n".join(path.read_text()[-1500:] for path in self.folder.rglob("slurm-*.out"))
                raise AssertionError(f"waited in vain for {what}: {self.store.job}\n{outputs}\n{logs}")
            await asyncio.sleep(0.1)

    async def _read_secret(self, namespace: str, name: str, entry: str) -> str:
        if name == "agents":
            return AGENTS_TOKEN
        self.token_reads += 1
        return await asyncio.to_thread(self.testbed.token, "root", self._token_seconds)


_METADATA = {"name": KEY.name, "namespace": KEY.namespace, "uid": UID, "generation": 1, "resourceVersion": "1"}


def _spec(folder: Path, workers: int = 3, steps: int = 40, lines: str = "") -> dict[str, Any]:
    script = (
        f"export CHECKPOINT_DIRECTORY={folder}/checkpoints STEPS={steps} READ_SECONDS=0.05 HANG_RANK=-1 TORN_STEP=-1\n"
        f"{lines}\nexec {sys.executable} {TRAIN}\n"
    )
    return {
        "workers": workers,
        "ranksPerWorker": 1,
        "slurm": {"clusterRef": {"name": "hpc"}, "timeLimit": "10", "script": script},
        "checkpoint": {"directory": f"{folder}/checkpoints"},
        "health": {"stall": {"minSeconds": 2}},
        "recovery": {"graceSeconds": 2, "noProgressLimit": 6, "fenceSeconds": 10, "backoff": {"initialSeconds": 0}},
    }
