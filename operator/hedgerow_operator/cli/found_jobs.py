"""The jobs of a state directory as they are found from outside, and who looks after them."""

import os
import shlex
from pathlib import Path

import click
from msgspec import Struct

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.lock import holder
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.processes import members
from hedgerow_operator.adapters.local.session_file import Live, SessionRecord, read_live, read_session
from hedgerow_operator.adapters.local.state_file import read_job
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.outcome import is_finished, is_suspended, name_of, output_to_read, verdict


class Found(Struct, frozen=True, kw_only=True):
    """pid: of the process that looks after the job, None: nobody does. runs: any process of it lives; known only when
    nobody looks after it.
    """

    job: TrainingJob
    phase: str = ""
    pid: int | None = None
    runs: bool = False

    @property
    def is_orphaned(self) -> bool:
        """Whether it should be looked after, and is not."""
        return self.pid is None and not is_finished(self.job) and (self.runs or not is_suspended(self.job))


class State(Struct, frozen=True, kw_only=True):
    """jobs: by name. session: the last that was run here."""

    paths: StatePaths
    jobs: tuple[Found, ...]
    session: SessionRecord | None

    def named(self, name: str | None) -> "State":
        """Only the jobs of this name (NAME or NAMESPACE/NAME), all without one. Raises click.ClickException."""
        chosen = tuple(found for found in self.jobs if name in (None, found.job.metadata.name, name_of(found.job)))
        if not chosen:
            there = ", ".join(found.job.metadata.name for found in self.jobs)
            raise click.ClickException(f"there is no job {name} in {self.paths.root}; there are: {there}")
        return State(paths=self.paths, jobs=chosen, session=self.session)

    def current(self) -> "State":
        """Those of the last session, or all when none of it is known."""
        session = self.session
        chosen = tuple(found for found in self.jobs if session and session.covers(key_of(found.job)))
        return State(paths=self.paths, jobs=chosen or self.jobs, session=session)

    def again(self) -> str:
        """The command that goes on with the jobs of the last session."""
        if self.session is None:
            return f"hedgerow local … --state-dir {shlex.quote(str(self.paths.root))}"
        there = "" if self.session.folder == os.getcwd() else f"cd {shlex.quote(self.session.folder)} && "
        return f"{there}{self.session.again}"

    def told(self, found: Found) -> str:
        """A sentence about how a job stands that nobody looks after."""
        if found.is_orphaned:
            return self._orphaned(found)
        return verdict(found.job, self.again(), self._output)

    def _output(self, job: TrainingJob) -> str:
        return str(self.paths.log(key_of(job), *output_to_read(job)))

    def _orphaned(self, found: Found) -> str:
        """A sentence about a job that nobody looks after."""
        how = "its ranks go on by themselves" if found.runs else "none of its ranks runs"
        return (
            f"{name_of(found.job)}: the hedgerow that looked after it is gone, and {how}; to go on from there: "
            f"{self.again()}"
        )


def find(state_dir: Path, *, may_be_empty: bool = False) -> State:
    """What is there now. Raises click.ClickException with a sentence when there is nothing."""
    paths = StatePaths(state_dir)
    if not os.path.isdir(paths.root):  # also where nobody lets us look
        raise click.ClickException(
            f"there is no state directory {state_dir} here; go to the folder where hedgerow local was started, or name "
            "its state directory with --state-dir"
        )
    pid, session = holder(paths), read_session(paths)
    live = {} if pid is None else {entry.job.metadata.uid: entry for entry in read_live(paths)}
    try:
        stored = [job for path in paths.objects() if (job := read_job(path)) is not None]
    except StateError as error:
        raise click.ClickException(str(error)) from None
    if not stored and not may_be_empty:
        raise click.ClickException(f"no job was run in {paths.root} so far; hedgerow local runs one")
    jobs = tuple(_found(job, live.get(job.metadata.uid), pid, session) for job in stored)
    return State(paths=paths, jobs=jobs, session=session)


def _found(job: TrainingJob, live: Live | None, pid: int | None, session: SessionRecord | None) -> Found:
    if pid is not None and (session is None or session.covers(key_of(job))):
        return Found(job=live.job, phase=live.phase, pid=pid) if live else Found(job=job, pid=pid)
    return Found(job=job, runs=not is_finished(job) and bool(members(job.metadata.uid)))
