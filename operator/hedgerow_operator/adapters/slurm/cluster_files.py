"""What jobs on a SlurmCluster need in its tokenDirectory. The operator may be far from that file system, so the batch
script itself brings the launcher and its token; Slurm shows a job's script to nobody but its user and administrators.
"""

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from hedgerow import pack
from hedgerow_operator.adapters.slurm.report_tokens import ReportTokens
from hedgerow_operator.api.labels import ANNOTATION_CANCELLED_SLURM_JOB, ANNOTATION_SLURM_RUNS, FINALIZER_SLURM
from hedgerow_operator.api.slurm_cluster import REST, SlurmClusterSpec
from hedgerow_operator.api.slurm_spec import REQUEUE
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.places import Places
from hedgerow_operator.build.slurm.submission import submission
from hedgerow_operator.core.slurm.comments import comment_of_run
from hedgerow_operator.core.slurm.refusals import NO_REQUEUE
from hedgerow_operator.core.slurm.runs import with_run
from hedgerow_operator.core.slurm.sbatch_lines import BadLine
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.reconcile.ports import Refused
from hedgerow_operator.reconcile.slurm_jobs import FinalizedJobs


class ClusterFiles:
    """adapters.slurm.submissions.Submissions for one SlurmCluster."""

    def __init__(self, spec: SlurmClusterSpec, jobs: FinalizedJobs, tokens: ReportTokens) -> None:
        self._spec = spec
        self._jobs = jobs
        self._tokens = tokens

    async def prepare(self, job: TrainingJob, attempt: int, excluded: tuple[str, ...]) -> Submission:
        """See Submissions. Before anything is submitted the job is kept from being deleted without its Slurm job."""
        assert job.spec.slurm is not None
        again = job.spec.slurm.resubmit == REQUEUE
        if again and self._spec.driver == REST:
            raise Refused(f"spec.slurm.resubmit: {NO_REQUEUE}")
        if FINALIZER_SLURM not in job.metadata.finalizers:
            job = await self._jobs.set_finalizers(job, (*job.metadata.finalizers, FINALIZER_SLURM))
        token, job = await self._tokens.new(job, self._jobs)
        if again:
            await self._write_runs(job, attempt, (attempt,))
        try:
            built = submission(job, attempt, excluded, self._places(job, attempt, token))
        except BadLine as error:
            raise Refused(f"spec.slurm.script: {error}") from None
        # Where a job of which nothing else is said would start, its user must be able to write.
        return built if built.directory != "/" else msgspec.structs.replace(built, directory=self._spec.token_directory)

    async def note_cancelled(self, job: TrainingJob, attempt: int, number: str) -> None:
        """See Submissions."""
        if not self.was_cancelled(job, attempt, number):
            await self._jobs.annotate(job, ANNOTATION_CANCELLED_SLURM_JOB, number)

    def was_cancelled(self, job: TrainingJob, attempt: int, number: str) -> bool:
        """See Submissions."""
        return job.metadata.annotations.get(ANNOTATION_CANCELLED_SLURM_JOB) == number

    def runs(self, job: TrainingJob, first: int) -> tuple[int, ...]:
        """See Submissions."""
        began, _, runs = job.metadata.annotations.get(ANNOTATION_SLURM_RUNS, "").partition(":")
        return tuple(map(int, runs.split(","))) if began == str(first) else ()

    async def add_run(self, job: TrainingJob, first: int, number: int, attempt: int) -> None:
        """See Submissions."""
        await self._write_runs(job, first, with_run(self.runs(job, first), number, attempt))

    def comment(self, job: TrainingJob, first: int, number: int, attempt: int) -> str:
        """See Submissions: the operator may be far from the file system, and the comment can be read by the job."""
        return comment_of_run(job.metadata.uid, first, number, attempt)

    async def _write_runs(self, job: TrainingJob, first: int, runs: Sequence[int]) -> None:
        written = f"{first}:{','.join(map(str, runs))}"
        if job.metadata.annotations.get(ANNOTATION_SLURM_RUNS) != written:
            await self._jobs.annotate(job, ANNOTATION_SLURM_RUNS, written)

    def _places(self, job: TrainingJob, attempt: int, token: str) -> Places:
        root = self._spec.token_directory.rstrip("/")
        directory = f"{root}/{job.metadata.uid}-{attempt}"
        archive, token_file = f"{directory}/hedgerow.pyz", f"{directory}/token"
        return Places(
            directory=directory,
            archive=archive,
            token_file=token_file,
            report_url=self._spec.report_url.rstrip("/"),
            output=f"{root}/slurm-%j.out",
            runs_in_comment=job.spec.slurm is not None and job.spec.slurm.resubmit == REQUEUE,
            logs=True,
            carried={archive: _launcher(), token_file: f"{token}\n".encode()},
        )


@cache
def _launcher() -> bytes:
    with tempfile.TemporaryDirectory(prefix="hedgerow-") as folder:
        packed = Path(folder) / "hedgerow.pyz"
        pack.write(str(packed))
        return packed.read_bytes()
