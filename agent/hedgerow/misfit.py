"""Says that a command starts another number of ranks than the job has. Pure.

Only what a launcher of ranks has started counts: a script may start programs that have a world of their own.
"""

from __future__ import annotations

from typing import Iterable, Mapping, Optional

from hedgerow.descendants import RankPlace

_TOO_MANY = (
    "the command starts %d ranks in all where workers x ranksPerWorker is %d x %d = %d; write these numbers in spec, "
    "and leave them out of what the command passes to its launcher"
)
_REPLACED = "; Hedgerow cannot change what it passes, as it replaces PYTHONPATH: write PYTHONPATH=DIRECTORY:$PYTHONPATH"
_PER_WORKER = (
    "it is started once for each rank and starts ranks itself, %d in all, where workers x ranksPerWorker is %d x %d = "
    "%d; write processes: PerWorker (hedgerow run --processes per-worker), so that it is started once for each worker"
)


def under_one_command(places: Iterable[RankPlace], worker: int, workers: int, nproc: int) -> Optional[str]:
    """What is wrong with the ranks below a command that was started once; None: nothing."""
    expected, first = workers * nproc, worker * nproc
    for place in places:
        if not place.launched:
            continue
        fits = first <= place.rank < first + nproc
        if fits and place.world in (None, expected):
            continue
        in_all = place.world or 0
        if in_all in (0, expected):
            # Every worker starts the whole world.
            in_all = workers * (place.local_world or place.rank + 1)
        return _TOO_MANY % (in_all, workers, nproc, expected) + ("" if place.injected else _REPLACED)
    return None


def under_one_rank(places: Mapping[int, RankPlace], rank: int, workers: int, nproc: int) -> Optional[str]:
    """What is wrong with the processes below rank ``rank``, which was started by us; None: nothing."""
    expected = workers * nproc
    for place in places.values():
        if not place.launched or (place.rank == rank and place.world in (None, expected)):
            continue
        in_all = expected * (place.local_world or place.world or 1)
        if in_all == expected:
            in_all = place.world or expected
        return _PER_WORKER % (in_all, workers, nproc, expected)
    return None
