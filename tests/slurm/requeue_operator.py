"""The small operator where it runs on a machine of the cluster, by Slurm's commands, with jobs that are requeued."""

from pathlib import Path
from typing import Any

import msgspec

from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.api.slurm_cluster import CLI, SlurmCluster
from hedgerow_operator.reconcile.ports import JobKey
from tests.slurm.small_operator import UID, SmallOperator
from tests.slurm.testbed.testbed import Testbed


class OwnCommands:
    """clusters_runtime.Drivers with the commands of the testbed.."""

    def __init__(self, testbed: Testbed) -> None:
        self._driver = CliDriver(testbed.environment)

    async def driver(self, cluster: SlurmCluster, user: str) -> Driver:
        """The same for every user."""
        return self._driver

    async def close(self) -> None:
        """Nothing is held."""


class RequeueOperator(SmallOperator):
    """resubmit: Requeue. recovery: what differs there."""

    def __init__(self, testbed: Testbed, folder: Path, recovery: dict[str, Any] | None = None, **spec: Any) -> None:
        super().__init__(testbed, folder, **spec)
        self._drivers = OwnCommands(testbed)  # type: ignore[assignment]
        job = self.store.job
        assert job is not None
        assert job.spec.slurm is not None
        slurm = msgspec.structs.replace(job.spec.slurm, resubmit="Requeue")
        changed = msgspec.convert(
            {**msgspec.to_builtins(job.spec.recovery), **(recovery or {})}, type(job.spec.recovery)
        )
        self.store.job = msgspec.structs.replace(
            job, spec=msgspec.structs.replace(job.spec, slurm=slurm, recovery=changed)
        )

    async def get(self, key: JobKey) -> SlurmCluster | None:
        """The same cluster, reached by commands."""
        cluster = await super().get(key)
        assert cluster is not None
        return msgspec.structs.replace(cluster, spec=msgspec.structs.replace(cluster.spec, driver=CLI))

    def jobs(self) -> list[tuple[str, str]]:
        """Number and state of each batch job that was ever submitted."""
        lines = self.testbed.run(["squeue", "--noheader", "--states=all", "--format=%i %T %k"]).splitlines()
        words = [line.split() for line in lines]
        return [(found[0], found[1]) for found in words if len(found) > 2 and f":{UID}:" in found[2]]
