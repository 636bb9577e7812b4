"""`hedgerow render`: what would be created for a job, without creating it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import msgspec

from hedgerow_operator.adapters.local.launch import command_line, launcher_environment
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.api.manifests import FoundJob, load_manifests
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.api.yaml_writing import yaml_text
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.build.placement import placement_job
from hedgerow_operator.build.slurm.batch_file import batch_file
from hedgerow_operator.build.slurm.places import Places
from hedgerow_operator.build.slurm.submission import submission
from hedgerow_operator.cli.check_parts import template_types
from hedgerow_operator.cli.launching import BY_SRUN, Launch, launch_of
from hedgerow_operator.core.slurm.sbatch_lines import BadLine
from hedgerow_operator.reconcile.ports import JobKey

# As the chart sets them where nothing else is asked for.
DEFAULT_REPORT_URL = "http://hedgerow.hedgerow-system.svc:8080"
FIRST = 1
_NO_UID = "00000000-0000-0000-0000-000000000000"


def default_image() -> str:
    """The operator's image of this release."""
    return f"hedgerow/hedgerow-operator:{version('hedgerow')}"


def show_rendered(manifests: str, report_url: str | None, image: str | None, state_dir: Path) -> None:
    """Print what would be created for every job in the manifests. Raises click.ClickException for bad input."""
    found = load_manifests(manifests)
    if found.errors:
        raise click.ClickException(str(found.errors[0]))
    if not found.jobs:
        raise click.ClickException(f"{manifests} holds no TrainingJob, and for endpoints nothing else is created")
    for job in found.jobs:
        for wrong in template_types.findings(job.job.spec):
            raise click.ClickException(f"{job.where}: {wrong.sentence}")
    for note in found.notes:
        click.echo(f"hedgerow: {note}", err=True)
    injection = Injection(image=image or default_image(), report_url=(report_url or DEFAULT_REPORT_URL).rstrip("/"))
    click.echo("---\n".join(rendered(job, injection, StatePaths(state_dir)) for job in found.jobs), nl=False)


def rendered(found: FoundJob, injection: Injection, paths: StatePaths) -> str:
    """Comment lines that say how the job is launched, and the YAML of what is created."""
    job, folder = known(found), None
    if job.spec.slurm is not None:
        return _batch_file(job, paths, injection)
    if job.spec.local is None:
        created: dict[str, Any] = placement_job(job, FIRST, (), injection)
    else:
        created = {"processes": [_process(job, worker, paths) for worker in range(job.spec.workers)]}
        folder = Path(job.spec.local.working_dir)
    head = "".join(f"# {line}\n" for line in header(job, folder))
    return head + yaml_text(created)


def known(found: FoundJob) -> TrainingJob:
    """The job with a uid, and with an absolute workingDir where it is local."""
    job, spec = found.job, found.job.spec
    if spec.local is not None:
        folder = os.path.normpath(found.folder / spec.local.working_dir)
        local = msgspec.structs.replace(spec.local, working_dir=folder)
        spec = msgspec.structs.replace(spec, local=local)
    if spec.slurm is not None:
        options = {"chdir": os.path.normpath(found.folder), **spec.slurm.options}
        spec = msgspec.structs.replace(spec, slurm=msgspec.structs.replace(spec.slurm, options=options))
    metadata = msgspec.structs.replace(job.metadata, uid=job.metadata.uid or _NO_UID)
    return msgspec.structs.replace(job, metadata=metadata, spec=spec)


def header(job: TrainingJob, folder: Path | None = None) -> list[str]:
    """How the job is launched and how it resumes, in a few lines. folder: where a local one starts."""
    launch, spec = launch_of(job.spec, folder), job.spec
    place = "the Job that the operator creates" if spec.kubernetes else "what hedgerow local starts"
    place = "the batch job that is submitted" if spec.slurm else place
    lines = [
        f"{job.metadata.namespace}/{job.metadata.name}: {place} for the first attempt",
        f"launch:  {launch.processes or 'decided in the pod'}; {launch.why}",
        f"ranks:   {_plural(spec.workers, 'worker')} x {spec.ranks_per_worker} = {spec.ranks}; {_starts(launch, job)}",
    ]
    if launch.gives_way:
        lines.append(f"ours:    {launch.launcher}'s {shlex.join(launch.gives_way)} give way to these numbers")
    return [*lines, *(f"resume:  {line}" for line in _resume(launch, job))]


def _starts(launch: Launch, job: TrainingJob) -> str:
    if launch.processes == BY_SRUN:
        return "the script is run once, on the first node"
    if launch.processes == "PerRank":
        return "the command is started once for each"
    if not launch.processes:
        return "the command is started accordingly"
    once = "once" if job.spec.workers == 1 else "once in each worker"
    world = f"PET_NNODES={job.spec.workers} PET_NPROC_PER_NODE={job.spec.ranks_per_worker}"
    return f"the command is started {once}, with {world}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _resume(launch: Launch, job: TrainingJob) -> Iterator[str]:
    checkpoint = job.spec.checkpoint
    if checkpoint is None:
        yield "spec.checkpoint is not set: every attempt begins at step 0, as far as Hedgerow knows"
    else:
        yield f"HEDGEROW_RESUME_FROM names the newest whole checkpoint in {checkpoint.directory}, unset without one"
    for words in launch.resumes:
        yield f"the command resumes by itself: {words}"


def _batch_file(job: TrainingJob, paths: StatePaths, injection: Injection) -> str:
    """What sbatch is given, with the comment lines below its first; on a SlurmCluster the paths are below its
    tokenDirectory.
    """
    assert job.spec.slurm is not None
    key = JobKey(job.metadata.namespace, job.metadata.name)
    files = StatePaths(Path("/TOKEN_DIRECTORY")) if job.spec.slurm.cluster_ref else paths
    places = Places(
        directory=str(files.placement(key, FIRST)),
        archive=str(files.root / "hedgerow.pyz"),
        token_file=str(files.token(key)),
        report_url=injection.report_url if job.spec.slurm.cluster_ref else "",
        address_file="" if job.spec.slurm.cluster_ref else str(files.address),
        logs=not job.spec.slurm.cluster_ref,
    )
    try:
        first, _, rest = batch_file(submission(job, FIRST, (), places)).partition("\n")
    except BadLine as error:
        raise click.ClickException(f"{job.metadata.name}: spec.slurm.script: {error}") from None
    return "\n".join([first, *(f"# {line}" for line in header(job)), rest])


def _process(job: TrainingJob, worker: int, paths: StatePaths) -> dict[str, Any]:
    """What hedgerow local starts for one worker; the environment is added to its own."""
    assert job.spec.local is not None
    words = command_line(job.spec.local, Path("hedgerow.pyz"), Path())
    return {
        "worker": worker,
        "workingDir": job.spec.local.working_dir,
        "environment": launcher_environment(job, FIRST, worker, paths, {}),
        "command": words[words.index(sys.executable) :],
    }
