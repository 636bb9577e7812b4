"""The driver's calls by pyslurm, without waiting for anything else: what the process beside the operator runs."""

import os
from collections.abc import Mapping
from typing import Any

from hedgerow_operator.adapters.slurm.errors import is_transient, says_ended_job, says_not_drained, says_unknown_job
from hedgerow_operator.adapters.slurm.pyslurm.lines import line
from hedgerow_operator.adapters.slurm.pyslurm.submission import described
from hedgerow_operator.core.slurm import values
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode, Submission
from hedgerow_operator.core.slurm.state_words import has_ended, job_state, node_state

# From slurm_errno.h.
INVALID_JOB_ID = 2017
_FIRST_OF_COMMUNICATION, _LAST_OF_COMMUNICATION = 1000, 1999


class Calls:
    """One method for each of the driver's. Raises pyslurm's own errors."""

    def __init__(self, module: Any, slurm: str) -> None:
        """module: pyslurm. slurm: the version of Slurm here. Raises WrongVersion."""
        self._module = module
        self._line = line(module, slurm)
        self._slurm = slurm

    def version(self) -> str:
        """Slurm's version where its commands told it, else the line of pyslurm, which is the same."""
        return self._slurm or self._line

    def submit(self, submission: Submission) -> str:
        """The new id."""
        with described(submission, self._line) as attributes:
            return str(self._module.JobSubmitDescription(**attributes).submit())

    def jobs(self) -> list[SlurmJob]:
        """Every job, of whichever user."""
        return [_job(job) for job in self._module.Jobs.load().values()]

    def job(self, job_id: str) -> SlurmJob | None:
        """One that the controller remembers; accounting is asked where there is some."""
        try:
            found = self._find(job_id)
        except self._module.RPCError as error:
            if _is_unknown(error):
                return None
            raise
        return None if found is None else _job(found)

    def cancel(self, job_id: str) -> None:
        """Ended already is fine."""
        job = self._named(job_id)
        try:
            if job is not None:
                job.cancel()
        except self._module.RPCError as error:
            if not _is_unknown(error) and not says_ended_job(str(error)):
                raise

    def requeue(self, job_id: str, excluded: list[str]) -> None:
        """Excluded nodes can be set only while it waits; from the moment of a requeue it does, for some seconds."""
        job = self._named(job_id)
        if job is None:
            raise ValueError(f"there is no job {job_id}")
        job.requeue()
        self.change(job_id, excluded, "")

    def change(self, job_id: str, excluded: list[str], comment: str) -> None:
        """An attribute that is empty stays as it is."""
        changes = {"excluded_nodes": sorted(excluded), "comment": comment}
        given = {name: value for name, value in changes.items() if value}
        job = self._named(job_id) if given else None
        if job is not None:
            job.modify(self._module.JobSubmitDescription(**given))

    def _named(self, job_id: str) -> Any:
        """The module's own job to give orders for, which Slurm is asked about only where its id is no plain one."""
        return self._module.Job(int(job_id)) if _is_number(job_id) else self._find(job_id)

    def _find(self, job_id: str) -> Any:
        """The module's own job; None: there is none whose id users write so."""
        if _is_number(job_id):
            return self._module.Job.load(int(job_id))
        return next((job for job in self._module.Jobs.load().values() if _id(job) == job_id), None)

    def nodes(self) -> list[SlurmNode]:
        """Every node."""
        return [_node(node) for node in self._module.Nodes.load().values()]

    def drain(self, node: str, reason: str) -> None:
        """Drain it."""
        self._module.Node(node).modify(self._module.Node(state="DRAIN", reason=reason))

    def resume(self, node: str) -> None:
        """Resume it; a node that is not drained needs none."""
        try:
            self._module.Node(node).modify(self._module.Node(state="RESUME"))
        except self._module.RPCError as error:
            if not says_not_drained(str(error)):
                raise

    def kind_of(self, error: Exception) -> str:
        """Whether what was asked for never will be (refused), or nobody could be asked (unreachable)."""
        if isinstance(error, self._module.RPCError):
            away = _FIRST_OF_COMMUNICATION <= _number(error) <= _LAST_OF_COMMUNICATION
            return "unreachable" if away or is_transient(str(error)) else "refused"
        return "refused" if isinstance(error, (ValueError, TypeError)) else "unreachable"


def _is_unknown(error: Exception) -> bool:
    return _number(error) == INVALID_JOB_ID or says_unknown_job(str(error))


def _number(error: Exception) -> int:
    number = getattr(error, "errno", 0)
    return number if isinstance(number, int) else 0


def _is_number(job_id: str) -> bool:
    """Whether it is a plain id: int() would read the array task 2_1 as job 21."""
    return job_id.isascii() and job_id.isdecimal()


def _id(job: Any) -> str:
    """As users write it."""
    if job.array_id and job.array_task_id is not None:
        return f"{job.array_id}_{job.array_task_id}"
    if job.array_id:
        return f"{job.array_id}_[{job.array_tasks_waiting}]" if job.array_tasks_waiting else str(job.array_id)
    return f"{job.heterogeneous_id}+{job.heterogeneous_offset or 0}" if job.heterogeneous_id else str(job.id)


def _job(job: Any) -> SlurmJob:
    state, flags = job_state(str(job.state))
    return SlurmJob(
        id=_id(job),
        state=state,
        flags=flags,
        reason=_reason(job.state_reason),
        comment=job.comment or "",
        name=job.name or "",
        user=job.user_name or "",
        partition=job.partition or "",
        nodes=values.hosts(job.allocated_nodes),
        excluded=values.hosts(job.excluded_nodes),
        exit_status=_exit_status(job) if has_ended(state) else None,
        submitted_at=values.time(job.submit_time),
        eligible_at=values.time(job.eligible_time),
        started_at=values.time(job.start_time) if state != "PENDING" else None,
        ended_at=values.time(job.end_time) if has_ended(state) else None,
        time_limit_seconds=job.time_limit * 60.0 if isinstance(job.time_limit, int) else None,
        restarts=job.requeue_count or 0,
        requeue=bool(job.is_requeueable),
    )


def _node(node: Any) -> SlurmNode:
    state, flags = node_state(str(node.state))
    gres: Mapping[str, Any] | None = node.configured_gres
    return SlurmNode(
        name=node.name,
        state=state,
        flags=flags,
        reason=node.reason or "",
        reason_user=node.reason_user or "",
        address=node.address or "",
        gres=",".join(f"{name}:{count}" for name, count in (gres or {}).items()),
        partitions=tuple(node.partitions or ()),
    )


def _reason(shown: str | None) -> str:
    return "" if shown in (None, "None") else str(shown)


def _exit_status(job: Any) -> int:
    signal, code = job.exit_code_signal or 0, job.exit_code or 0
    return (code << 8) | signal


def slurm_variables() -> list[str]:
    """The names of the variables that a submission must not inherit."""
    return [name for name in os.environ if name.startswith("SLURM_") and name != "SLURM_CONF"]
