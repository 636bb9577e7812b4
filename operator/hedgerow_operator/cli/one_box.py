"""`hedgerow local -- CMD`: which job of the state directory the command is, a new one or one that goes on."""

import shlex
from pathlib import Path

import click
from msgspec.structs import replace

from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.processes import members
from hedgerow_operator.adapters.local.state_file import read_job
from hedgerow_operator.api.manifests import Manifests
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.api.validate import change_problems
from hedgerow_operator.cli.command_job import Wanted, as_manifests, names, ranks_of
from hedgerow_operator.cli.local import Telling, accepted, command, run_told
from hedgerow_operator.cli.outcome import is_finished
from hedgerow_operator.reconcile.ports import JobKey

_NAMESPACE = "default"


def run_command(wanted: Wanted, state_dir: Path, telling: Telling) -> int:
    """Run the command; the exit code. Raises click.ClickException for bad input."""
    again = command(list(wanted.options()), state_dir, telling, wanted.command)
    paths = StatePaths(state_dir)
    try:
        manifests = choose(wanted, paths, Path.cwd())
        output = (f"what its ranks print is in {paths.job(key_of(found.job))}" for found in manifests.jobs)
        why = ranks_of(wanted.command).why if wanted.nproc is None else ""
        telling = replace(telling, notes=(*filter(None, [why]), *output))
        return run_told(manifests, state_dir, again, telling)
    except StateError as error:
        raise click.ClickException(str(error)) from None


def choose(wanted: Wanted, paths: StatePaths, folder: Path) -> Manifests:
    """The job with its name: as told, else the first name after the script that is free, or whose job can go on as
    this command. Raises StateError.
    """
    if wanted.name is not None:
        return as_manifests(wanted, wanted.name, folder)
    for name in names(wanted.command):
        manifests = as_manifests(wanted, name, folder)
        stored = read_job(paths.object(JobKey(_NAMESPACE, name)))
        if manifests.errors or stored is None or _goes_on(stored, accepted(manifests)[0]):
            return manifests
    raise StateError("every name that fits the command is taken; give one with --name")


def _goes_on(stored: TrainingJob, wanted: TrainingJob) -> bool:
    """Whether the command is the stored job's, which has not ended. Raises StateError when another still runs."""
    if is_finished(stored):
        return False
    if not list(change_problems(stored.spec, wanted.spec)):
        return True
    if members(stored.metadata.uid):
        name = stored.metadata.name
        local = stored.spec.local
        raise StateError(
            f"{name} still runs here, by another command ({shlex.join(local.command) if local else ''}); end it with "
            f"hedgerow stop {name}, or give this job another --name"
        )
    return False
