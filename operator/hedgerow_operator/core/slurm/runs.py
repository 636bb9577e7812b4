"""Which placement each run of a batch job is. One that is requeued keeps its number and its comment, and counts its
runs; which attempt a run begins with is written down, in their order. Pure.
"""

from collections.abc import Sequence

from msgspec import Struct

from hedgerow_operator.core.slurm.seen import SlurmJob


class Entry(Struct, frozen=True, kw_only=True):
    """One placement as it is listed. first: the attempt in the comment. put_back: its run is over, and the job waits
    for the next one, or has begun it and waits to be told which attempt it is.
    """

    attempt: int
    first: int
    job: SlurmJob
    put_back: bool = False


def entry_of(first: int, job: SlurmJob, runs: Sequence[int]) -> Entry:
    """runs: the attempt of each run, as far as it is written down."""
    known = runs or (first,)
    if job.restarts < len(known):
        return Entry(attempt=known[job.restarts], first=first, job=job)
    return Entry(attempt=known[-1], first=first, job=job, put_back=True)


def with_run(runs: Sequence[int], number: int, attempt: int) -> tuple[int, ...]:
    """Run ``number`` (from 0) is this attempt; runs that nobody asked for, and that have done nothing, are it too."""
    return (*runs, *[attempt] * (number + 1 - len(runs)))
