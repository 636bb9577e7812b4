"""The columns of a job, as kubectl shows them. Pure."""

from collections.abc import Sequence

from hedgerow_operator.api.times import parse_time
from hedgerow_operator.api.training_job import TrainingJob

HEADER = ("NAME", "STATE", "REASON", "STEP", "RANKS", "RESTARTS", "CHECKPOINT", "GOODPUT", "AGE")
WIDE_HEADER = ("NAMESPACE", *HEADER, "ATTEMPT", "INCIDENT")
_GAP = "  "  # one less than kubectl, so that a plain row fits 80 columns


def table(jobs: Sequence[TrainingJob], wide: bool, now: float) -> list[str]:
    """Header and one line for each job, padded as kubectl pads."""
    rows = [WIDE_HEADER if wide else HEADER, *(_row(job, wide, now) for job in jobs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [_GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


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


def _row(job: TrainingJob, wide: bool, now: float) -> tuple[str, ...]:
    status, created = job.status, job.metadata.creation_timestamp
    row = (
        job.metadata.name,
        status.state,
        status.reason,
        _text(status.step),
        status.ranks.summary if status.ranks else "",
        str(status.restarts),
        _text(status.checkpoint.step if status.checkpoint else None),
        "" if status.goodput_percent is None else f"{status.goodput_percent}",
        age(now - parse_time(created)) if created else "",
    )
    if not wide:
        return row
    incident = status.incident.message if status.incident else ""
    return (job.metadata.namespace, *row, str(status.attempt), incident)


def _text(number: int | None) -> str:
    return "" if number is None else str(number)
