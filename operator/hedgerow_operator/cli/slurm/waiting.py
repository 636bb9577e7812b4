"""`hedgerow sbatch --wait`: until the last batch job of a submission has ended."""

import subprocess
import time

import msgspec

from hedgerow_operator.cli.slurm.folder import Folder
from hedgerow_operator.core.slurm.chain import FINAL, Chain, number_of

_LOOK_SECONDS = 2.0
# What was just seen to end may not have written so yet, nor the next have been let go.
_LOOKS = 3


def wait_for_end(folder: Folder, code: int) -> int:
    """The exit code of the script in the end; ``code``: of the first batch job, which has ended."""
    missed = 0
    while missed < _LOOKS:
        chain = _chain(folder)
        newest = chain.newest
        if newest is None:
            return code
        if newest.end in FINAL:
            return newest.exit_code
        missed = 0 if _is_queued(chain.successor) or _is_queued(number_of(newest.run)) else missed + 1
        time.sleep(_LOOK_SECONDS)
    return code


def _chain(folder: Folder) -> Chain:
    try:
        return folder.chain()
    except (OSError, msgspec.DecodeError):
        return Chain()


def _is_queued(job_id: str) -> bool:
    """Whether Slurm shows it among the jobs that have not ended; also when it cannot be asked."""
    if not job_id:
        return False
    words = ["squeue", "--noheader", f"--jobs={job_id}", "--format=%i"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) if done.returncode == 0 else "Invalid job id" not in done.stderr
