"""`hedgerow local`: reads the manifests, takes the state directory, runs the session."""

import asyncio
import contextlib
import os
import shlex
import sys
import time
from pathlib import Path

import click
import msgspec

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.lock import locked
from hedgerow_operator.adapters.local.paths import RESERVED_NAMES, StatePaths
from hedgerow_operator.api.manifests import FoundJob, Manifests, load_manifests
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.output import write
from hedgerow_operator.cli.session import Session
from hedgerow_operator.cli.views.base import View
from hedgerow_operator.cli.views.json_lines import JSONLines
from hedgerow_operator.cli.views.lines import Lines
from hedgerow_operator.cli.views.rows import Rows
from hedgerow_operator.cli.views.table import Table


def run_manifests(path: str, state_dir: Path, output: str | None) -> int:
    """Run every TrainingJob in the manifests; the exit code. Raises click.ClickException for bad input."""
    return run_jobs(load_manifests(path), state_dir, make_view(output), command(path, state_dir, output))


def command(path: str, state_dir: Path, output: str | None = None) -> str:
    """The command line that goes on with a run."""
    words = ["hedgerow", "local", "-f", path, "--state-dir", str(state_dir)]
    return shlex.join([*words, "-o", output] if output else words)


def run_jobs(manifests: Manifests, state_dir: Path, view: View, again: str) -> int:
    """As :func:`run_manifests`, for manifests that were read already. ``again``: the command that goes on."""
    jobs = accepted(manifests)
    for note in manifests.notes:
        view.note(note)
    paths = StatePaths(state_dir)
    try:
        with locked(paths) as lock:
            return asyncio.run(Session(paths, lock, view, again).run(jobs))
    except StateError as error:
        raise click.ClickException(str(error)) from None


def accepted(manifests: Manifests) -> list[TrainingJob]:
    """The jobs, each with an absolute workingDir. Raises click.ClickException with the first thing that is wrong."""
    if manifests.errors:
        raise click.ClickException(str(manifests.errors[0]))
    return [_resolved(found) for found in manifests.jobs]


def make_view(output: str | None) -> View:
    """The view that fits the option -o and the place that the output goes to."""
    if output == "json":
        return JSONLines(write)
    if sys.stdout.isatty():
        return Table(time.time, write, wide=output == "wide")
    if output == "wide":
        return Rows(time.time, write)
    return Lines(time.time, write)


def _resolved(found: FoundJob) -> TrainingJob:
    job = found.job
    if job.spec.local is None:
        raise click.ClickException(
            f"{found.where}: {job.metadata.name} has spec.kubernetes and runs on a cluster; "
            "run `kubectl apply` on it there, or write spec.local instead to run it here"
        )
    if job.metadata.namespace in RESERVED_NAMES:
        raise click.ClickException(
            f"{found.where}: metadata.namespace: {job.metadata.namespace} is the name of a file in the state "
            "directory; write another namespace"
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
