"""Driver of a Slurm cluster that is reached by slurmrestd."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from hedgerow_operator.adapters.slurm.driver import Unsupported
from hedgerow_operator.adapters.slurm.errors import is_transient
from hedgerow_operator.adapters.slurm.rest.connection import ALREADY_DONE, INVALID_JOB_ID, Answer, Connection
from hedgerow_operator.adapters.slurm.rest.dialect import Dialect, choose
from hedgerow_operator.adapters.slurm.rest.fields import job_fields
from hedgerow_operator.core.slurm import job_json, node_json
from hedgerow_operator.core.slurm.refusals import NO_REQUEUE
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode, Submission
from hedgerow_operator.reconcile.ports import Refused, Unreachable

_DOCUMENT = "/openapi/v3"
# From slurm_errno.h: what no later try changes is between these, but for a controller that does not answer.
_FIRST_OF_SLURM = 2000
_LAST_OF_SLURM = 2999


class RESTDriver:
    """See adapters.slurm.driver.Driver. user: whose jobs are listed."""

    def __init__(self, connection: Connection, user: str) -> None:
        self._connection = connection
        self._user = user
        self._dialect: Dialect | None = None

    async def version(self) -> str:
        """See Driver."""
        answer = await self._ask("GET", (await self._speak()).path("ping"))
        return job_json.release(answer.body)

    async def submit(self, submission: Submission) -> str:
        """See Driver."""
        dialect = await self._speak()
        body = {"script": submission.script, "job": job_fields(submission, dialect.old)}
        answer = await self._connection.ask("POST", dialect.path("job/submit"), body)
        # One that is held, or has to wait, comes with its id and an error beside it.
        if number := answer.body.get("job_id"):
            return str(number)
        if answer.status == 400 or _is_for_good(answer):
            raise Refused(answer.why)
        raise self._unreachable(answer)

    async def jobs(self) -> Sequence[SlurmJob]:
        """See Driver."""
        answer = await self._listing("jobs")
        return [job for job in job_json.read_jobs(answer.body) if job.user == self._user]

    async def job(self, job_id: str) -> SlurmJob | None:
        """See Driver."""
        dialect = await self._speak()
        answer = await self._connection.ask("GET", dialect.path(f"job/{quote(job_id)}"))
        if answer.has(INVALID_JOB_ID):
            return await self._accounted(dialect, job_id)
        found = [job for job in job_json.read_jobs(self._good(answer).body) if job.id == job_id]
        return found[-1] if found else None

    async def cancel(self, job_id: str) -> None:
        """See Driver."""
        answer = await self._connection.ask("DELETE", (await self._speak()).path(f"job/{quote(job_id)}"))
        if not answer.has(INVALID_JOB_ID) and not answer.has(ALREADY_DONE):
            self._good(answer)

    async def requeue(self, job_id: str, excluded: Sequence[str]) -> None:
        """See Driver."""
        raise Unsupported(NO_REQUEUE)

    async def change(self, job_id: str, excluded: Sequence[str] | None, comment: str) -> None:
        """See Driver: of jobs that are requeued."""
        raise Unsupported(NO_REQUEUE)

    async def nodes(self) -> Sequence[SlurmNode]:
        """See Driver."""
        return node_json.read_nodes((await self._listing("nodes")).body)

    async def drain(self, node: str, reason: str) -> None:
        """See Driver."""
        await self._update(node, {"state": ["DRAIN"], "reason": reason})

    async def resume(self, node: str) -> None:
        """See Driver."""
        await self._update(node, {"state": ["RESUME"]})

    async def close(self) -> None:
        """See Driver."""
        await self._connection.close()

    async def _update(self, node: str, fields: dict[str, Any]) -> None:
        dialect = await self._speak()
        if not dialect.updates_nodes:
            raise Unsupported(
                f"slurmrestd v0.0.{dialect.number} cannot change a node's state; use the driver CLI or PySlurm"
            )
        answer = await self._connection.ask("POST", dialect.path(f"node/{quote(node)}"), fields)
        if _is_for_good(answer):
            raise Refused(answer.why)
        self._good(answer)

    async def _accounted(self, dialect: Dialect, job_id: str) -> SlurmJob | None:
        if not dialect.accounting:
            return None
        answer = await self._ask("GET", dialect.accounting_path(f"job/{quote(job_id)}"))
        found = [job for job in job_json.read_jobs(answer.body) if job.id == job_id]
        return found[-1] if found else None

    async def _speak(self) -> Dialect:
        if self._dialect is None:
            answer = await self._connection.ask("GET", _DOCUMENT)
            self._dialect = choose(self._good(answer).body, self._connection.url)
        return self._dialect

    async def _listing(self, what: str) -> Answer:
        answer = await self._ask("GET", (await self._speak()).path(what))
        if answer.troubles:
            raise self._unreachable(answer)
        if not isinstance(answer.body.get(what), list):
            # None listed is not the same as no list.
            raise Unreachable(f"{self._connection.url} answers without a list of {what}")
        return answer

    async def _ask(self, method: str, path: str) -> Answer:
        return self._good(await self._connection.ask(method, path))

    def _good(self, answer: Answer) -> Answer:
        if answer.status >= 400:
            if answer.status == 404:
                # Another slurmrestd may be there now: the version is asked for anew.
                self._dialect = None
            raise self._unreachable(answer)
        return answer

    def _unreachable(self, answer: Answer) -> Unreachable:
        return Unreachable(f"{self._connection.url}: {answer.why}{self._connection.doubt}")


def _is_for_good(answer: Answer) -> bool:
    numbers = [trouble.number for trouble in answer.troubles]
    return any(_FIRST_OF_SLURM <= number <= _LAST_OF_SLURM for number in numbers) and not is_transient(answer.why)
