"""The columns of a job, as kubectl shows them. Pure."""

from collections.abc import Sequence

from hedgerow.wire import PHASE_STEP
from hedgerow_operator.api.conditions import SUSPENDED
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.api.training_job import TrainingJob

HEADER = ("NAME", "STATE", "REASON", "STEP", "RANKS", "RESTARTS", "CHECKPOINT", "GOODPUT", "AGE")
WIDE_HEADER = ("NAMESPACE", *HEADER, "ATTEMPT", "INCIDENT")
# What a run that ended by Ctrl-C leaves: suspended, but not because its spec says so.
_INTERRUPTED = ("Stopped", "Interrupted")
_GAP = "  "  # one less than kubectl, so that a plain row fits 80 columns


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line for each row, padded as kubectl pads."""
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(rows[0]))]
    return [padded(cells, widths) for cells in rows]


def padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    """The cells of one row in columns of these widths."""
    return _GAP.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def age(seconds: float) -> str:
    """``45s``, ``3m20s``, ``5h10m``, ``3d4h``: as kubectl shortens it."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole}s"
    if whole < 3600 * 3:
        return f"{whole // 60}m{whole % 60}s"
    if whole < 86400 * 2:
        return f"{whole // 3600}h{whole % 3600 // 60}m"
    return f"{whole // 86400}d{whole % 86400 // 3600}h"


def row(job: TrainingJob, wide: bool, now: float, phase: str = "") -> tuple[str, ...]:
    """The cells of one job. phase: what its ranks do, shown beside the step unless they step."""
    status, created = job.status, job.metadata.creation_timestamp
    interrupted = status.state == SUSPENDED and not job.spec.suspend
    cells = (
        job.metadata.name,
        *(_INTERRUPTED if interrupted else (status.state, status.reason)),
        _position(status.step, phase),
        status.ranks.summary if status.ranks else "",
        str(status.restarts),
        _text(status.checkpoint.step if status.checkpoint else None),
        "" if status.goodput_percent is None else f"{status.goodput_percent}",
        age(now - parse_time(created)) if created else "",
    )
    if not wide:
        return cells
    incident = status.incident.message if status.incident else ""
    return (job.metadata.namespace, *cells, str(status.attempt), incident)


def _position(step: int | None, phase: str) -> str:
    """``37``, ``37 eval``, ``init``."""
    return " ".join(part for part in (_text(step), "" if phase == PHASE_STEP else phase) if part)


def _text(number: int | None) -> str:
    return "" if number is None else str(number)
