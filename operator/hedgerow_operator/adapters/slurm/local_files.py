"""What jobs on Slurm need of the state directory of `hedgerow local`, which lies on a file system of all nodes."""

from collections.abc import Sequence
from pathlib import Path

from hedgerow_operator.adapters.local.archive import ensure_archive
from hedgerow_operator.adapters.local.errors import StateError
from hedgerow_operator.adapters.local.file_jobs import key_of
from hedgerow_operator.adapters.local.files import read_text, write_whole
from hedgerow_operator.adapters.local.paths import StatePaths
from hedgerow_operator.adapters.local.tokens import ensure_token
from hedgerow_operator.api.slurm_spec import REQUEUE
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.build.slurm.places import Places
from hedgerow_operator.build.slurm.submission import submission
from hedgerow_operator.core.slurm.runs import with_run
from hedgerow_operator.core.slurm.sbatch_lines import BadLine
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.reconcile.ports import Refused, Unreachable

# What the batch script itself prints.
BATCH_LOG = "slurm.log"
_CANCELLED = "cancelled"


class LocalFiles:
    """adapters.slurm.submissions.Submissions over a state directory."""

    def __init__(self, paths: StatePaths) -> None:
        self._paths = paths
        self._noted: set[Path] = set()

    async def prepare(self, job: TrainingJob, attempt: int, excluded: tuple[str, ...]) -> Submission:
        """See Submissions."""
        try:
            return submission(job, attempt, excluded, self._places(job, attempt))
        except BadLine as error:
            raise Refused(f"spec.slurm.script: {error}") from None
        except (OSError, UnicodeDecodeError, StateError) as error:
            raise Unreachable(f"{self._paths.root} cannot be used ({error})") from None

    async def note_cancelled(self, job: TrainingJob, attempt: int, number: str) -> None:
        """See Submissions."""
        path = self._cancelled(job, attempt, number)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError as error:
            raise Unreachable(f"{path} cannot be written: {error.strerror}") from None
        self._noted.add(path)

    def was_cancelled(self, job: TrainingJob, attempt: int, number: str) -> bool:
        """See Submissions."""
        path = self._cancelled(job, attempt, number)
        if path not in self._noted and path.exists():
            self._noted.add(path)
        return path in self._noted

    def _places(self, job: TrainingJob, attempt: int) -> Places:
        key = key_of(job)
        directory = self._paths.placement(key, attempt)
        archive = ensure_archive(self._paths)
        ensure_token(self._paths, key)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        runs = ""
        if job.spec.slurm is not None and job.spec.slurm.resubmit == REQUEUE:
            runs = str(self._runs(job, attempt))
            self._write_runs(job, attempt, (attempt,))
        return Places(
            directory=str(directory),
            archive=str(archive),
            token_file=str(self._paths.token(key)),
            address_file=str(self._paths.address),
            runs=runs,
            output=str(directory / BATCH_LOG),
            logs=True,
        )

    def runs(self, job: TrainingJob, first: int) -> tuple[int, ...]:
        """See Submissions."""
        path = self._runs(job, first)
        try:
            return tuple(map(int, (read_text(path) or "").split()))
        except (OSError, ValueError) as error:
            raise Unreachable(f"{path} cannot be read ({error})") from None

    async def add_run(self, job: TrainingJob, first: int, number: int, attempt: int) -> None:
        """See Submissions."""
        self._write_runs(job, first, with_run(self.runs(job, first), number, attempt))

    def comment(self, job: TrainingJob, first: int, number: int, attempt: int) -> str:
        """See Submissions: it reads the file."""
        return ""

    def _write_runs(self, job: TrainingJob, first: int, runs: Sequence[int]) -> None:
        path = self._runs(job, first)
        lines = "".join(f"{entry}\n" for entry in runs)
        try:
            write_whole(path, lines.encode())
        except OSError as error:
            raise Unreachable(f"{path} cannot be written: {error.strerror}") from None

    def _runs(self, job: TrainingJob, first: int) -> Path:
        return self._paths.job(key_of(job)) / f"runs-{first}"

    def _cancelled(self, job: TrainingJob, attempt: int, number: str) -> Path:
        return self._paths.placement(key_of(job), attempt) / f"{_CANCELLED}-{number}"
