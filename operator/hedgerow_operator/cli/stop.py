"""`hedgerow stop`: asks the process that looks after jobs to stop them, or stops them where there is none any more."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import click

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.lock import locked
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.cli.attach import watch
from hedgerow_operator.cli.found_jobs import Found, State, find
from hedgerow_operator.cli.outcome import NOT_ALL_SUCCEEDED, is_finished, name_of
from hedgerow_operator.cli.serving.stopping import stop_serving
from hedgerow_operator.cli.views.silent import Silent
from hedgerow_operator.reconcile.ports import JobKey

# What stopping takes beyond the ranks' grace.
_PATIENCE_SECONDS = 60.0


def stop_jobs(name: str | None, state_dir: Path) -> int:
    """Stop them and say what is left; the exit code. Raises click.ClickException when there are none."""
    paths = StatePaths(state_dir)
    if name is None and stop_serving(paths) and not paths.objects():
        return 0
    state = find(state_dir).named(name)
    state = state if name else state.current()
    watched = [found for found in state.jobs if found.pid is not None and not is_finished(found.job)]
    left = [found for found in state.jobs if found.pid is None and found.runs]
    if watched and not _asked(state.paths, watched):
        pids = ", ".join(sorted({str(found.pid) for found in watched}))
        click.echo(f"the jobs do not end; process {pids} looks after them and goes on to stop them", err=True)
        return NOT_ALL_SUCCEEDED
    if left:
        _take_over(state, left)
    names = {key_of(found.job) for found in state.jobs}
    after = find(state_dir)
    for found in after.jobs:
        if key_of(found.job) in names:
            click.echo(after.told(found))
    return 0


def request_stop(paths: StatePaths, keys: Iterable[JobKey]) -> None:
    """Leave word for the process that looks after the jobs. Raises click.ClickException."""
    for key in keys:
        try:
            paths.stop_request(key).touch()
        except OSError as error:
            raise click.ClickException(f"{paths.stop_request(key)} cannot be written: {error.strerror}") from None


def _asked(paths: StatePaths, watched: list[Found]) -> bool:
    """Whether the jobs are at rest after a while."""
    keys = {key_of(found.job) for found in watched}
    request_stop(paths, keys)
    click.echo(f"stopping {', '.join(name_of(found.job) for found in watched)} …")
    grace = max(found.job.spec.recovery.grace_seconds for found in watched)
    return watch(paths, keys, lambda text, jobs: None, grace + _PATIENCE_SECONDS)


def _take_over(state: State, left: list[Found]) -> None:
    """Look after the jobs only to stop them. Raises click.ClickException."""
    # Only here: most often somebody looks after them, who is only asked.
    from hedgerow_operator.cli.session import Session

    keys = [key_of(found.job) for found in left]
    click.echo(f"stopping {', '.join(name_of(found.job) for found in left)}, which nobody looks after …")
    try:
        with locked(state.paths) as lock:
            session = Session(state.paths, lock, Silent(), state.again(), lambda: request_stop(state.paths, keys))
            asyncio.run(session.run([found.job for found in left]))
    except StateError as error:
        raise click.ClickException(str(error)) from None
