"""`hedgerow local`: reads the jobs, takes the state directory, runs the session."""

import asyncio
import contextlib
import os
import shlex
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.lock import StateLock, locked
from hedgerow_operator.adapters.local.paths import RESERVED_NAMES, StatePaths
from hedgerow_operator.api.manifests import FoundJob, Manifests, load_manifests
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli import background
from hedgerow_operator.cli.notify.notices import Notices
from hedgerow_operator.cli.notify.shape import format_of
from hedgerow_operator.cli.outcome import name_of
from hedgerow_operator.cli.output import Output
from hedgerow_operator.cli.serving.wanted import NOTHING_SERVED, ServingOptions, Wanted, wanted
from hedgerow_operator.cli.slurm_jobs import on_slurm
from hedgerow_operator.cli.views.base import View
from hedgerow_operator.cli.views.json_lines import JSONLines
from hedgerow_operator.cli.views.lines import Lines
from hedgerow_operator.cli.views.live_file import LiveFile
from hedgerow_operator.cli.views.rows import Rows
from hedgerow_operator.cli.views.several import Several
from hedgerow_operator.cli.views.silent import Silent
from hedgerow_operator.cli.views.table import Table

DEFAULT_STATE = Path(".hedgerow")
NOTIFY_VARIABLE = "HEDGEROW_NOTIFY"


class Telling(Struct, frozen=True, kw_only=True):
    """Who is told of a run, and how. output: of option -o. notify_format: None for the one that fits the URL.
    report_host: where launchers on nodes of Slurm reach this machine. notes: sentences to begin with.
    """

    output: str | None = None
    detach: bool = False
    notify: str | None = None
    notify_format: str | None = None
    report_host: str | None = None
    notes: tuple[str, ...] = ()

    def options(self) -> list[str]:
        """The same as words of a command line; the URL is a secret and only hinted at."""
        words = ["-o", self.output] if self.output else []
        # It may be set by the variable, which is still there then.
        words += ["--notify", "URL"] if self.notify and self.notify != os.environ.get(NOTIFY_VARIABLE) else []
        words += ["--notify-format", self.notify_format] if self.notify_format else []
        words += ["--report-host", self.report_host] if self.report_host else []
        return words + (["--detach"] if self.detach else [])


# Whoever looks at the terminal.
_NOBODY_ELSE = Telling()


def run_manifests(path: str, state_dir: Path, telling: Telling, serving: ServingOptions) -> int:
    """Run every TrainingJob in the manifests and serve every InferenceEndpoint; the exit code. Raises
    click.ClickException for bad input.
    """
    again = command(["-f", path, *serving.words()], state_dir, telling)
    manifests = load_manifests(path)
    accepted(manifests)
    return run_told(manifests, state_dir, again, telling, wanted(manifests, serving))


def command(what: list[str], state_dir: Path, telling: Telling = _NOBODY_ELSE, of_job: tuple[str, ...] = ()) -> str:
    """The command line that goes on with a run."""
    words = ["hedgerow", "local", *what, "--state-dir", str(state_dir), *telling.options()]
    return shlex.join([*words, "--", *of_job] if of_job else words)


def run_told(
    manifests: Manifests, state_dir: Path, again: str, telling: Telling, serving: Wanted = NOTHING_SERVED
) -> int:
    """Run the jobs with what the command line says about telling; the exit code."""
    if telling.notify is not None:
        from hedgerow_operator.cli.notify.webhook import host_of

        host_of(telling.notify)
    if not telling.detach:
        return run_jobs(
            manifests, state_dir, lambda output: make_view(telling.output, output), again, telling, serving=serving
        )
    served = [f"{one.metadata.namespace}/{one.metadata.name}" for one in serving.endpoints]
    names = ", ".join([*(name_of(job) for job in accepted(manifests)), *served])

    def work(ready: Callable[[], None]) -> int:
        return run_jobs(manifests, state_dir, lambda output: Silent(), again, telling, ready, serving)

    pid = background.in_background(work)
    for note in (*manifests.notes, *telling.notes):
        click.echo(f"hedgerow: {note}", err=True)
    there = "" if state_dir == DEFAULT_STATE else f" --state-dir {shlex.quote(str(state_dir))}"
    click.echo(
        f"{names}: looked after in the background by process {pid}; hedgerow attach{there} shows it, "
        f"hedgerow stop{there} ends it, what happens is in {StatePaths(state_dir).news}"
    )
    return 0


def run_jobs(
    manifests: Manifests,
    state_dir: Path,
    view: Callable[[Output], View],
    again: str,
    telling: Telling = _NOBODY_ELSE,
    ready: Callable[[], None] = lambda: None,
    serving: Wanted = NOTHING_SERVED,
) -> int:
    """Run jobs that were read already; the exit code. again: the command that goes on. ready: see Session."""
    jobs = accepted(manifests)
    paths = StatePaths(state_dir)
    output = Output()
    shown = view(output)
    try:
        with locked(paths) as lock:
            for note in (*manifests.notes, *telling.notes):
                shown.note(note)
            return asyncio.run(_run(jobs, paths, lock, shown, again, telling, ready, serving))
    except StateError as error:
        raise click.ClickException(str(error)) from None
    finally:
        output.close()


async def _run(
    jobs: list[TrainingJob],
    paths: StatePaths,
    lock: StateLock,
    shown: View,
    again: str,
    telling: Telling,
    ready: Callable[[], None],
    serving: Wanted,
) -> int:
    views = [shown, Lines(time.time, lambda text: background.append(paths.news, text)), LiveFile(paths, time.monotonic)]
    # Only here: bad input is told in half the time without the server, and few are notified.
    from hedgerow_operator.cli.session import Session

    streams = background.STREAMS if telling.detach else background.terminal_streams()
    if telling.detach:
        background.to_file(paths.news, streams)
    async with contextlib.AsyncExitStack() as stack:
        if telling.notify is not None:
            from hedgerow_operator.cli.notify.webhook import Webhook

            webhook = Webhook(telling.notify, lambda sentence: all_views.note(sentence))
            await stack.enter_async_context(webhook)
            shape = telling.notify_format or format_of(telling.notify)
            views.append(Notices(webhook.send, shape, time.time))
        all_views = Several(*views)

        def hung_up() -> None:
            background.to_file(paths.news, streams)
            if sys.stdout.fileno() in streams and all_views.drop(shown):
                all_views.note("the terminal is gone, the run goes on in the background")

        beside = _served(serving, paths, all_views) if serving.endpoints else None
        session = Session(paths, lock, all_views, again, ready, hung_up, telling.report_host, serving.stays, beside)
        return await session.run(jobs)


@contextlib.asynccontextmanager
async def _served(serving: Wanted, paths: StatePaths, view: View) -> AsyncIterator[None]:
    """Endpoints are served as long as the block lasts. Raises StateError."""
    # Only here: whoever serves nothing needs none of it.
    from hedgerow_operator.cli.serving.gateway_thread import GatewayThread

    loop = asyncio.get_running_loop()
    gateway = GatewayThread(serving, paths, lambda text: _in_loop(loop, lambda: view.note(text)))
    await asyncio.to_thread(gateway.start)
    try:
        yield
    finally:
        await asyncio.to_thread(gateway.stop)


def _in_loop(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    loop.call_soon_threadsafe(act)


def accepted(manifests: Manifests) -> list[TrainingJob]:
    """The jobs, each with an absolute workingDir. Raises click.ClickException with the first thing that is wrong."""
    if manifests.errors:
        raise click.ClickException(str(manifests.errors[0]))
    return [_resolved(found) for found in manifests.jobs]


def make_view(output: str | None, to: Output) -> View:
    """The view that fits the option -o and the place that the output goes to."""
    if output == "json":
        return JSONLines(to.write, to.complain)
    if sys.stdout.isatty():
        return Table(time.time, to.write, wide=output == "wide")
    if output == "wide":
        return Rows(time.time, to.write, to.complain)
    return Lines(time.time, to.write)


def _resolved(found: FoundJob) -> TrainingJob:
    job = found.job
    if job.metadata.namespace in RESERVED_NAMES:
        raise click.ClickException(
            f"{found.where}: metadata.namespace: {job.metadata.namespace} is the name of a file in the state "
            "directory; write another namespace"
        )
    if job.spec.slurm is not None:
        return on_slurm(found, job.spec.slurm)
    if job.spec.local is None:
        raise click.ClickException(
            f"{found.where}: {job.metadata.name} has spec.kubernetes and runs on a cluster; "
            "run `kubectl apply` on it there, or write spec.local instead to run it here"
        )
    folder = found.folder / job.spec.local.working_dir
    with contextlib.suppress(OSError, RuntimeError):  # a name too long, links in a circle
        folder = folder.resolve()
    if not os.path.isdir(folder):
        raise click.ClickException(
            f"{found.where}: spec.local.workingDir: there is no directory {folder}; "
            "write one that exists, absolute or relative to the manifest"
        )
    local = msgspec.structs.replace(job.spec.local, working_dir=str(folder))
    return msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, local=local))
