"""`hedgerow supervise FOLDER`: what the batch job of `hedgerow sbatch` runs (hidden: nobody types it)."""

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from hedgerow.slurm.shim_files import shim_environment, write_shim
from hedgerow_operator.adapters.local.archive import ensure_archive
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.files import write_whole
from hedgerow_operator.adapters.local.lock import StateLock
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.session_file import SessionRecord, write_session
from hedgerow_operator.adapters.slurm.cli.driver import CliDriver
from hedgerow_operator.adapters.slurm.driver import Driver
from hedgerow_operator.cli import background
from hedgerow_operator.cli.slurm.folder import Folder, name_after
from hedgerow_operator.cli.slurm.own_job import OwnJob, own_job
from hedgerow_operator.cli.slurm.submission import OFF, OFF_VARIABLE
from hedgerow_operator.cli.slurm.succession import Succession
from hedgerow_operator.cli.slurm.supervisor import Supervisor
from hedgerow_operator.cli.slurm.telling import FewLines
from hedgerow_operator.cli.slurm.user_script import UserScript
from hedgerow_operator.cli.views.lines import Lines
from hedgerow_operator.cli.views.live_file import LiveFile
from hedgerow_operator.cli.views.several import Several
from hedgerow_operator.core.slurm.chain import Turn
from hedgerow_operator.core.slurm.sbatch_plan import SbatchPlan
from hedgerow_operator.reconcile.ports import Unreachable

_FAILED = 1
_LOCK_SECONDS = 60.0


def supervise(words: Sequence[str]) -> int:
    """The exit code of the batch job."""
    own = own_job(os.environ)
    if own is None or not words:
        say("supervise is what the batch job of hedgerow sbatch runs; write hedgerow sbatch SCRIPT")
        return 2
    folder = Folder(Path(words[0]), own.task)
    if os.environ.get(OFF_VARIABLE) == OFF:
        return asyncio.run(UserScript(folder.script, words[1:], os.environ).run())
    try:
        return asyncio.run(_supervise(folder, own, list(words[1:])))
    except (OSError, StateError, Unreachable, msgspec.DecodeError) as error:
        say(f"the script was not looked after: {error}")
        return _FAILED


def say(sentence: str) -> None:
    """A line of our own in the output of the batch job."""
    click.echo(f"hedgerow: {sentence}", err=True)


async def _supervise(folder: Folder, own: OwnJob, arguments: Sequence[str]) -> int:
    driver, plan = CliDriver(), folder.plan()
    succession = Succession(folder, own, plan, driver, say)
    decision = await succession.turn()
    if decision.turn is Turn.END:
        say(f"{decision.why}; nothing is started")
        return decision.exit_code
    paths = StatePaths(folder.state)
    lock = await _locked(paths)
    try:
        name_after(folder, own.job_id)
        await succession.begin()
        return await _run(folder, own, plan, driver, succession, paths, arguments)
    finally:
        lock.release()


async def _locked(paths: StatePaths) -> StateLock:
    """The lock of one that was just killed may be seen for a moment, or longer where files are on the network."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            return StateLock(paths)
        except StateError:
            if time.monotonic() >= deadline:
                raise
            await asyncio.sleep(1.0)


async def _run(
    folder: Folder,
    own: OwnJob,
    plan: SbatchPlan,
    driver: Driver,
    succession: Succession,
    paths: StatePaths,
    arguments: Sequence[str],
) -> int:
    token = secrets.token_urlsafe(32)
    write_whole(paths.root / "token", token.encode() + b"\n", mode=0o600)
    archive = ensure_archive(StatePaths(folder.path.parent))  # shared by all submissions
    shim = paths.root / "shim"
    write_shim(str(shim), sys.executable, str(archive))
    environment = shim_environment({**os.environ, **succession.variables()}, str(shim))
    write_session(paths, SessionRecord(jobs=(), again=f"hedgerow sbatch … {plan.name}", folder=plan.directory))
    view = Several(
        FewLines(say),
        Lines(time.time, lambda text: background.append(paths.news, text)),
        LiveFile(paths, time.monotonic),
    )
    supervisor = Supervisor(plan, own, paths, driver, view, succession)
    code = await supervisor.run(folder.script, arguments, environment, token)
    return await succession.end(code, supervisor.ended)
