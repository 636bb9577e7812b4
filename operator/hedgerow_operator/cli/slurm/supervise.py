"""`hedgerow supervise FOLDER`: what the batch job of `hedgerow sbatch` runs (hidden: nobody types it)."""

import asyncio
import contextlib
import os
import random
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from hedgerow.slurm.shim_files import shim_environment, write_shim
from hedgerow_operator.adapters.local.archive import ensure_archive
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.lock import StateLock, holder
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.session_file import SessionRecord, write_session
from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.adapters.slurm.steps.variables import token_file
from hedgerow_operator.cli import background
from hedgerow_operator.cli.slurm.folder import Folder, name_after
from hedgerow_operator.cli.slurm.own_job import OwnJob, own_job
from hedgerow_operator.cli.slurm.submission import OFF, OFF_VARIABLE
from hedgerow_operator.cli.slurm.succession import Succession
from hedgerow_operator.cli.slurm.supervisor import Supervisor
from hedgerow_operator.cli.slurm.telling import FewLines
from hedgerow_operator.cli.slurm.user_script import cannot_run, command_of
from hedgerow_operator.cli.views.lines import Lines
from hedgerow_operator.cli.views.live_file import LiveFile
from hedgerow_operator.cli.views.several import Several
from hedgerow_operator.core.slurm.chain import Turn
from hedgerow_operator.core.slurm.sbatch_plan import FOLLOWS, SbatchPlan, follows

_FAILED = 1
_LOCK_SECONDS = 60.0
_TRIES, _AGAIN_SECONDS = 5, 0.5


class Progress:
    """How far it is. script: the user's has begun."""

    script = False

    def begin_script(self) -> None:
        """From now on it must not be begun once more."""
        self.script = True


def supervise(words: Sequence[str]) -> int:
    """The exit code of the batch job."""
    not_first = follows(words, os.environ)
    words = [word for word in words[:1] if word != FOLLOWS] + list(words[1:])
    own = own_job(os.environ)
    if own is None or not words:
        say("supervise is what the batch job of hedgerow sbatch runs; write hedgerow sbatch SCRIPT")
        return 2
    folder, progress = Folder(Path(words[0]), own.task), Progress()
    if os.environ.get(OFF_VARIABLE) == OFF:
        return _unwatched(folder, words[1:])
    try:
        return asyncio.run(_supervise(folder, own, words[1:], progress, not_first))
    except Exception as error:  # noqa: BLE001  (whatever it is, the script must not suffer from it)
        why = f"{type(error).__name__}: {error}"
        if progress.script or not_first:
            say(f"the supervisor has failed, and the batch job ends ({why})")
            return _FAILED
        say(f"the script runs unwatched ({why})")
        return _unwatched(folder, words[1:])


def _unwatched(folder: Folder, arguments: Sequence[str]) -> int:
    """Become the script: its signals and its exit code are Slurm's affair."""
    words = command_of(folder.script, arguments)
    try:
        os.execvp(words[0], words)  # noqa: S606 (what the user has submitted)
    except OSError as error:
        return cannot_run(words, error)


def say(sentence: str) -> None:
    """A line of our own in the output of the batch job."""
    click.echo(f"hedgerow: {sentence}", err=True)


async def _supervise(folder: Folder, own: OwnJob, arguments: Sequence[str], progress: Progress, not_first: bool) -> int:
    driver, plan = CliDriver(), folder.plan()
    paths = StatePaths(folder.state)
    # Before anything is decided: a supervisor that lives on where Slurm has lost its node may yet end its script.
    lock = await _locked(paths, not_first)
    succession = Succession(folder, own, plan, driver, say)
    try:
        decision = await succession.turn()
        if decision.turn is Turn.END:
            say(f"{decision.why}; nothing is started")
            return decision.exit_code
        name_after(folder, own.job_id)
        await succession.begin()
        supervisor = Supervisor(plan, own, paths, driver, _view(paths), succession, progress.begin_script)
        code = await supervisor.run(folder.script, arguments, *_environment(folder, plan, succession, paths))
        return await succession.end(code, supervisor.ended)
    finally:
        await succession.stop()
        if lock is not None:
            lock.release()


async def _locked(paths: StatePaths, not_first: bool) -> StateLock | None:
    """The lock of one that was just killed may be seen for a moment, or longer where files are on the network; that of
    a run before this one is waited for, however long. Not every file system has locks. Raises StateError.
    """
    deadline, told = time.monotonic() + _LOCK_SECONDS, False
    while True:
        try:
            return StateLock(paths)
        except StateError:
            if holder(paths) is None:
                return None
            late = time.monotonic() >= deadline
            if late and not not_first:
                raise
            if late and not told:
                say("nothing is started yet: the supervisor of the run before still lives, on a node lost to Slurm")
                told = True
            await asyncio.sleep(1.0)


def _environment(
    folder: Folder, plan: SbatchPlan, succession: Succession, paths: StatePaths
) -> tuple[dict[str, str], str]:
    """The variables of the script, and the token of its launchers. Raises OSError, StateError."""
    token = secrets.token_urlsafe(32)
    write_whole(token_file(paths), token.encode() + b"\n", mode=0o600)
    archive = _archive(StatePaths(folder.path.parent))  # shared by all submissions
    shim = paths.root / "shim"
    write_shim(str(shim), sys.executable, str(archive))
    write_session(paths, SessionRecord(jobs=(), again=f"hedgerow sbatch … {plan.name}", folder=plan.directory))
    return shim_environment({**os.environ, **succession.variables()}, str(shim)), token


def _archive(paths: StatePaths) -> Path:
    """Tasks of an array begin together: one may take away what another has half written. Raises StateError."""
    for _ in range(_TRIES):
        with contextlib.suppress(StateError):
            return ensure_archive(paths)
        time.sleep(random.uniform(0.0, _AGAIN_SECONDS))  # noqa: S311 (so that they do not meet again)
    return ensure_archive(paths)


def _view(paths: StatePaths) -> Several:
    return Several(
        FewLines(say),
        Lines(time.time, lambda text: background.append(paths.news, text)),
        LiveFile(paths, time.monotonic),
    )
