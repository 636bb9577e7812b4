"""Driver of a Slurm cluster by pyslurm, where the operator runs on a machine of the cluster."""

from collections.abc import Sequence
from typing import Any

import msgspec

from hedgerow_operator.adapters.slurm.node_name import one_node
from hedgerow_operator.adapters.slurm.pyslurm.process import PySlurmProcess
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode, Submission


class PySlurmDriver:
    """See adapters.slurm.driver.Driver. user: whose jobs are listed."""

    def __init__(self, process: PySlurmProcess, user: str) -> None:
        self._process = process
        self._user = user

    async def version(self) -> str:
        """See Driver."""
        return str(await self._process.call("version"))

    async def submit(self, submission: Submission) -> str:
        """See Driver."""
        return str(await self._process.call("submit", msgspec.to_builtins(submission)))

    async def jobs(self) -> Sequence[SlurmJob]:
        """See Driver."""
        return [job for job in _all(await self._process.call("jobs"), SlurmJob) if job.user == self._user]

    async def job(self, job_id: str) -> SlurmJob | None:
        """See Driver."""
        found = await self._process.call("job", job_id)
        return None if found is None else msgspec.convert(found, SlurmJob)

    async def cancel(self, job_id: str) -> None:
        """See Driver."""
        await self._process.call("cancel", job_id)

    async def requeue(self, job_id: str, excluded: Sequence[str]) -> None:
        """See Driver."""
        await self._process.call("requeue", job_id, list(excluded))

    async def change(self, job_id: str, excluded: Sequence[str] | None, comment: str) -> None:
        """See Driver. pyslurm cannot say that no node is avoided any more: what was avoided last stays so."""
        await self._process.call("change", job_id, list(excluded or ()), comment)

    async def nodes(self) -> Sequence[SlurmNode]:
        """See Driver."""
        return _all(await self._process.call("nodes"), SlurmNode)

    async def drain(self, node: str, reason: str) -> None:
        """See Driver."""
        await self._process.call("drain", one_node(node), reason)

    async def resume(self, node: str) -> None:
        """See Driver."""
        await self._process.call("resume", one_node(node))

    async def close(self) -> None:
        """See Driver."""
        await self._process.close()


def _all(entries: Any, kind: type[Any]) -> list[Any]:
    return msgspec.convert(entries, list[kind])  # type: ignore[valid-type]
