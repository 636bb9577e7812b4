"""Which placement each run of a batch job is. One that is requeued keeps its number and its comment, and counts its
runs; which attempt a run begins with is written down, in their order. Pure.
"""

from collections.abc import Sequence

from msgspec import Struct

from hedgerow_operator.core.slurm.seen import SlurmJob


class Entry(Struct, frozen=True, kw_only=True):
    """One placement as it is listed. first: the attempt in the comment. again: it may be requeued, since its runs are
    told apart. put_back: its run is over, and the job waits for the next one, or has begun it and waits to be told
    which attempt it is.
    """

    attempt: int
    first: int
    job: SlurmJob
    again: bool = False
    put_back: bool = False


def entry_of(first: int, job: SlurmJob, runs: Sequence[int]) -> Entry:
    """runs: the attempt of each run, as far as it is written down; none: of a job that has one run only."""
    if not runs:
        return Entry(attempt=first, first=first, job=job)
    if job.restarts < len(runs):
        return Entry(attempt=runs[job.restarts], first=first, job=job, again=True)
    return Entry(attempt=runs[-1], first=first, job=job, again=True, put_back=True)


def with_run(runs: Sequence[int], number: int, attempt: int) -> tuple[int, ...]:
    """Run ``number`` (from 0) is this attempt, whatever was written for it and for later ones; runs that nobody asked
    for, and that have done nothing, are it too.
    """
    before = tuple(runs[:number])
    return (*before, *[attempt] * (number + 1 - len(before)))
