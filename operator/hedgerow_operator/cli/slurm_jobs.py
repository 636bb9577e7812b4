"""Jobs with spec.slurm, as `hedgerow local` runs them: by this machine's own commands."""

import click
import msgspec

from hedgerow_operator.api.manifests import FoundJob
from hedgerow_operator.api.slurm_spec import SlurmSpec
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.submission import lines_taken
from hedgerow_operator.core.slurm.sbatch_lines import BadLine

_DIRECTORY = "chdir"


def on_slurm(found: FoundJob, slurm: SlurmSpec) -> TrainingJob:
    """The job with a directory to run in: the manifest's, as with spec.local, unless it names one. Raises
    click.ClickException for what cannot be run from here.
    """
    job = found.job
    if slurm.cluster_ref is not None:
        raise click.ClickException(
            f"{found.where}: {job.metadata.name} names a SlurmCluster (spec.slurm.clusterRef), which an operator on "
            "Kubernetes looks after; leave clusterRef out to submit it from here, by sbatch"
        )
    try:
        lines = lines_taken(slurm.script)
    except BadLine as error:
        raise click.ClickException(f"{found.where}: spec.slurm.script: {error}") from None
    if _DIRECTORY in slurm.options or _DIRECTORY in lines:
        return job
    options = {**slurm.options, _DIRECTORY: str(found.folder.resolve())}
    changed = msgspec.structs.replace(slurm, options=options)
    return msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, slurm=changed))
