"""The Slurm job of one placement: its options and its script."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow_operator.api.slurm_options import KNOWN, OWNED
from hedgerow_operator.api.slurm_spec import REQUEUE
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.places import Places
from hedgerow_operator.build.slurm.script import batch_script
from hedgerow_operator.core.slurm.comments import comment_of
from hedgerow_operator.core.slurm.sbatch_lines import BadLine, flags_in, is_heterogeneous
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.core.slurm.times import duration_seconds

# The controller looks for signals that are due every 30 s.
SIGNAL_SLACK_SECONDS = 30
# Fields that a line of the script may fill where the manifest leaves them out.
_FILLABLE = ("partition", "account", "qos", "gres", "time")
HETEROGENEOUS = "it asks for a heterogeneous job; write one kind of node, as workers and gres say"
_OWNED = frozenset(name for _instead, names in OWNED for name in names)


def submission(job: TrainingJob, attempt: int, excluded: Sequence[str], places: Places) -> Submission:
    """The job of the placement that ``attempt`` is the first of; deterministic. ``job`` must have ``spec.slurm``.

    Raises core.slurm.sbatch_lines.BadLine for ``#SBATCH`` lines in its script that sbatch would refuse, or that ask for
    several kinds of nodes.
    """
    slurm = job.spec.slurm
    assert slurm is not None
    if is_heterogeneous(slurm.script):
        raise BadLine(HETEROGENEOUS)
    options = {**lines_taken(slurm.script), **_fields(job), **slurm.options, **_ours(job, excluded)}
    if places.output:
        options.setdefault("output", places.output)
    if slurm.resubmit == REQUEUE:
        options.setdefault("open-mode", "append")
    directory = options.pop("chdir", "/")
    options["signal"] = f"TERM@{lead_seconds(job, options.get('time', ''))}"
    return Submission(
        name=job.metadata.name,
        comment=comment_of(job.metadata.uid, attempt),
        script=batch_script(job, attempt, places),
        options=dict(sorted(options.items())),
        directory=directory,
    )


def lines_taken(script: str) -> dict[str, str]:
    """The options that ``#SBATCH`` lines of the user's script give, without those that the manifest decides."""
    return {
        flag.name: flag.value or ""
        for flag in flags_in(script)
        if flag.name in KNOWN and (flag.name not in _OWNED or flag.name in _FILLABLE)
    }


def lines_left(script: str) -> tuple[str, ...]:
    """The names of those that do not count, since the manifest decides them or sbatch alone knows them."""
    taken = lines_taken(script)
    return tuple(dict.fromkeys(" ".join(flag.words) for flag in flags_in(script) if flag.name not in taken))


def lead_seconds(job: TrainingJob, time_limit: str | None = None) -> int:
    """How long before the time limit of the job its ranks are told to end, so that they have time for a checkpoint."""
    lead = job.spec.grace_seconds + SIGNAL_SLACK_SECONDS
    written = time_limit if time_limit is not None else job.spec.slurm.time_limit if job.spec.slurm else ""
    limit = duration_seconds(written) if written else None
    return max(1, min(lead, int(limit / 2))) if limit else lead


def _fields(job: TrainingJob) -> dict[str, str]:
    slurm = job.spec.slurm
    assert slurm is not None
    fields = {"partition": slurm.partition, "account": slurm.account, "qos": slurm.qos, "gres": slurm.gres,
              "time": slurm.time_limit}  # fmt: skip
    return {name: value for name, value in fields.items() if value}


def _ours(job: TrainingJob, excluded: Sequence[str]) -> dict[str, str]:
    spec = job.spec
    requeue = spec.slurm is not None and spec.slurm.resubmit == REQUEUE
    ours = {
        "nodes": str(spec.workers),
        "ntasks": str(spec.ranks),
        "ntasks-per-node": str(spec.ranks_per_worker),
        "requeue" if requeue else "no-requeue": "",
    }
    return {**ours, "exclude": ",".join(sorted(excluded))} if excluded else ours
