"""The driver that runs Slurm's commands on this machine, as the user of this process."""

import os
import pwd
import re
from collections.abc import Mapping, Sequence

from hedgerow_operator.adapters.slurm import errors
from hedgerow_operator.adapters.slurm.cli import commands
from hedgerow_operator.adapters.slurm.cli.environment import for_queries, for_submission
from hedgerow_operator.adapters.slurm.cli.listing import Listing
from hedgerow_operator.adapters.slurm.node_name import one_node
from hedgerow_operator.core.slurm.hostlist import compress
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode, Submission
from hedgerow_operator.reconcile.ports import Refused, Unreachable

_OPTION = re.compile(r"[a-z][a-z0-9-]*")
_JOB_ID = re.compile(r"\d+(?:[_+]\d+|_\[[\d,%-]+\])?")


class CliDriver:
    """See driver.Driver. inherited: variables that say where the cluster is, PATH and SLURM_CONF among them."""

    def __init__(self, inherited: Mapping[str, str] | None = None) -> None:
        self._inherited = os.environ if inherited is None else inherited
        self._listing = Listing(for_queries(self._inherited), _user())

    async def version(self) -> str:
        """See Driver: of the installed commands."""
        return await self._listing.version()

    async def submit(self, submission: Submission) -> str:
        """See Driver. The script goes through stdin, so that no file is left anywhere."""
        words = ["sbatch", "--parsable", f"--job-name={submission.name}", f"--comment={submission.comment}"]
        words += [f"--chdir={submission.directory}", *map(_option, submission.options, submission.options.values())]
        environment = for_submission(self._inherited, submission.environment)
        done = await commands.run(
            words, environment, stdin=submission.script.encode(), seconds=commands.SUBMISSION_SECONDS
        )
        number = done.text.strip().split(";")[0]
        if done.code == 0 and number.isdecimal():
            return number
        raise _trouble("sbatch", done)

    async def jobs(self) -> Sequence[SlurmJob]:
        """See Driver."""
        return await self._listing.jobs()

    async def job(self, job_id: str) -> SlurmJob | None:
        """See Driver."""
        if not _JOB_ID.fullmatch(job_id):
            return None
        known = next((job for job in await self._listing.jobs() if job.id == job_id), None)
        return known or await self._listing.accounted(job_id)

    async def cancel(self, job_id: str) -> None:
        """See Driver."""
        if not _JOB_ID.fullmatch(job_id):
            return
        done = await self._run(["scancel", job_id])
        if done.code != 0 and not (errors.says_unknown_job(done.errors) or errors.says_ended_job(done.errors)):
            raise _trouble("scancel", done)

    async def requeue(self, job_id: str, excluded: Sequence[str]) -> None:
        """See Driver. Only a job that waits takes exclusions; for some seconds after a requeue it does."""
        if not _JOB_ID.fullmatch(job_id):
            raise Refused(f"{job_id!r} is no job id")
        await self._asked(["scontrol", "requeue", job_id])
        await self.change(job_id, excluded, "")

    async def change(self, job_id: str, excluded: Sequence[str] | None, comment: str) -> None:
        """See Driver."""
        if not _JOB_ID.fullmatch(job_id):
            raise Refused(f"{job_id!r} is no job id")
        words = [] if excluded is None else [f"excnodelist={compress(set(excluded))}"]
        words += [f"comment={comment}"] if comment else []
        if words:
            await self._asked(["scontrol", "update", f"jobid={job_id}", *words])

    async def nodes(self) -> Sequence[SlurmNode]:
        """See Driver."""
        return await self._listing.nodes()

    async def drain(self, node: str, reason: str) -> None:
        """See Driver."""
        await self._asked(["scontrol", "update", f"nodename={one_node(node)}", "state=drain", f"reason={reason}"])

    async def resume(self, node: str) -> None:
        """See Driver. A node that is not drained needs none."""
        done = await self._run(["scontrol", "update", f"nodename={one_node(node)}", "state=resume"])
        if done.code != 0 and not errors.says_not_drained(done.errors + done.text):
            raise _trouble("scontrol", done)

    async def close(self) -> None:
        """See Driver: no command outlives its call."""

    async def _asked(self, words: Sequence[str]) -> str:
        done = await self._run(words)
        if done.code != 0:
            raise _trouble(words[0], done)
        return done.text

    async def _run(self, words: Sequence[str]) -> commands.Done:
        return await commands.run(words, for_queries(self._inherited))


def _user() -> tuple[int, str]:
    number = os.geteuid()
    try:
        return number, pwd.getpwuid(number).pw_name
    except KeyError:  # a user of a directory that does not answer
        return number, ""


def _option(name: str, value: str) -> str:
    if not _OPTION.fullmatch(name):
        raise Refused(f"{name!r} is no option of sbatch: write its long name without dashes, such as ntasks-per-node")
    return f"--{name}={value}" if value else f"--{name}"


def _here(directory: str) -> str:
    """Where sbatch runs, as scripts know it by SLURM_SUBMIT_DIR; a folder that only the nodes have is left to them."""
    return directory if os.path.isdir(directory) else "/"


def _trouble(program: str, done: commands.Done) -> Exception:
    told = done.errors.strip() or done.text
    if done.code < 0 or errors.is_transient(told):
        return Unreachable(f"{program}: {errors.sentence(told)}")
    return Refused(f"{program}: {errors.sentence(told)}")
