"""`hedgerow replay workers`: a table of each worker's step times, sample by sample, through the straggler watch."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from hedgerow_operator.core.stragglers import StragglerWatch
from hedgerow_operator.replay.story import SLOWDOWN

_WORKER, _SAMPLE = "worker", "time"
_TIMES = ("batch_time_norm", "batch_time", "step_time", "step_seconds")


class Sample(Struct, frozen=True):
    """One row: which worker, the number of the sample, how long the step took (any one unit)."""

    worker: str
    number: int
    seconds: float


class WorkerIncident(Struct, kw_only=True):
    """Workers that are slower than their peers, from one sample to another; closed None: until the end."""

    workers: list[str]
    opened: int
    closed: int | None
    message: str
    kind: str = SLOWDOWN


def read_samples(lines: Iterable[str]) -> Iterator[Sample]:
    """The rows of a table, broken ones skipped. Raises ValueError with one sentence for what is no such table."""
    rows = csv.DictReader(lines)
    try:
        yield from _samples(rows)
    except csv.Error as error:
        raise ValueError(f"what follows line {rows.line_num} is no CSV: {error}") from None


def _samples(rows: csv.DictReader[str]) -> Iterator[Sample]:
    columns = rows.fieldnames or []
    seconds = next((name for name in _TIMES if name in columns), None)
    if _WORKER not in columns or _SAMPLE not in columns or seconds is None:
        raise ValueError(f"the table needs the columns worker, time and {_TIMES[0]} in its first line")
    for row in rows:
        sample = _sample(row, seconds)
        if sample is not None:
            yield sample


def replay_workers(samples: Iterable[Sample]) -> list[WorkerIncident]:
    """The incidents: one for as long as any worker is slow; it names every worker that was slow meanwhile."""
    watch = StragglerWatch()
    incidents: list[WorkerIncident] = []
    current: WorkerIncident | None = None
    for number, turn in _turns(samples):
        slow = watch.add(turn).factors
        if not slow:
            if current is not None:
                current.closed, current = number, None
            continue
        if current is None:
            current = WorkerIncident(workers=[], opened=number, closed=None, message="")
            incidents.append(current)
        new = [worker for worker in slow if worker not in current.workers]
        current.workers = sorted([*current.workers, *new])
        current.message = _message(slow) if new or not current.message else current.message
    return incidents


def as_object(incidents: list[WorkerIncident]) -> dict[str, Any]:
    """The object that ``-o json`` prints; a worker that is a number is one there."""
    return {
        "incidents": [
            {
                "kind": incident.kind,
                "workers": [_named(worker) for worker in incident.workers],
                "openedAtSample": incident.opened,
                "closedAtSample": incident.closed,
                "message": incident.message,
            }
            for incident in incidents
        ]
    }


def _named(worker: str) -> int | str:
    """More digits are no number that every reader of JSON knows."""
    return int(worker) if worker.isdecimal() and len(worker) < 16 else worker


def _turns(samples: Iterable[Sample]) -> Iterator[tuple[int, Mapping[str, float]]]:
    """Rows in turns: every worker at most once in each; a worker that comes again begins the next."""
    turn: dict[str, float] = {}
    number = 0
    for sample in samples:
        if sample.worker in turn:
            yield number, turn
            turn = {}
        turn[sample.worker] = sample.seconds
        number = sample.number
    if turn:
        yield number, turn


def _sample(row: Mapping[str, Any], seconds: str) -> Sample | None:
    try:
        return Sample(str(row[_WORKER]), int(float(row[_SAMPLE])), float(row[seconds]))
    except (TypeError, ValueError, OverflowError):
        return None


def _message(slow: Mapping[str, float]) -> str:
    named = ", ".join(f"worker {worker} takes {factor:.1f} times its own pace" for worker, factor in slow.items())
    return f"{named}, relative to its peers"
