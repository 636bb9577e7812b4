"""A job for Slurm: what of its script counts, and what it asks for. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow_operator.api.slurm_spec import PER_TASK, SlurmSpec
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.submission import HETEROGENEOUS, lines_left
from hedgerow_operator.build.slurm.user_script import calls_srun
from hedgerow_operator.cli.check_parts.finding import Finding, about
from hedgerow_operator.core.slurm.sbatch_lines import BadLine, is_heterogeneous

_error, _warning, _fine = about("slurm")


def findings(job: TrainingJob) -> Iterator[Finding]:
    """What is to say about a job that keeps the rules of spec.slurm."""
    spec, slurm = job.spec, job.spec.slurm
    assert slurm is not None
    yield from _lines(slurm.script)
    if calls_srun(slurm.script):
        yield from _unused(slurm, spec.processes)
    if not slurm.gres:
        yield _warning("slurm.gres is not set, so no GPU is asked for; write gres: gpu:8 for eight on each node")
    where = slurm.options.get("chdir", "the folder of the manifest, which all nodes have to share")
    yield _fine(f"the script runs in {where}, on {spec.workers} {'node' if spec.workers == 1 else 'nodes'}")


def _lines(script: str) -> Iterator[Finding]:
    if is_heterogeneous(script):
        yield _error(f"script: {HETEROGENEOUS}")
    try:
        left = lines_left(script)
    except BadLine as error:
        yield _error(f"script: {error}")
        return
    if left:
        yield _warning(
            f"the script's #SBATCH {', '.join(left)} {'does' if len(left) == 1 else 'do'} not count: the fields of the "
            "manifest and Hedgerow decide that"
        )


def _unused(slurm: SlurmSpec, processes: str | None) -> Iterator[Finding]:
    said = ["launch: PerTask"] if slurm.launch == PER_TASK else []
    said += [f"processes: {processes}"] if processes is not None else []
    if said:
        yield _warning(
            f"{' and '.join(said)} says nothing here: the script's own srun starts the ranks as its line says"
        )
