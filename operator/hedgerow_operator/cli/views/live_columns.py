"""The columns of a live table: as many as the terminal has room for. Pure."""

from collections.abc import Iterable, Sequence

from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.views.columns import aligned, row
from hedgerow_operator.cli.views.verdict import verdict_word

HEADER = (
    *("NAME", "STATE", "REASON", "STEP", "STEP TIME", "PHASE", "RANKS", "RESTARTS", "CHECKPOINT"),
    *("VERDICT", "GOODPUT", "AGE"),
)
WIDE_HEADER = ("NAMESPACE", *HEADER, "ATTEMPT", "INCIDENT")
# After the reason, where some job is on Slurm: its number there, its state, and why it waits.
SLURM = "SLURM"
# What a narrow terminal does without, the first of these first.
_LEFT_OUT = ("GOODPUT", "REASON", "AGE", "RESTARTS")


def live_table(jobs: Iterable[tuple[TrainingJob, str]], wide: bool, now: float, columns: int) -> list[str]:
    """Header and one line for each job with the phase of its ranks. columns: of the terminal; a wide table is cut."""
    shown = list(jobs)
    header = WIDE_HEADER if wide else HEADER
    rows = [header, *(_cells(job, wide, now, phase) for job, phase in shown)]
    if any(job.status.slurm is not None for job, _ in shown):
        added = [SLURM, *(_on_slurm(job) for job, _ in shown)]
        place = header.index("REASON") + 1
        rows = [(*cells[:place], cell, *cells[place:]) for cells, cell in zip(rows, added, strict=True)]
    left_out: set[str] = set()
    lines = aligned(rows)
    for name in () if wide else _LEFT_OUT:
        if max(map(len, lines)) < columns:
            break
        left_out.add(name)
        lines = aligned([_without(cells, rows[0], left_out) for cells in rows])
    return lines


def step_time(millis: int) -> str:
    """``350 ms``, ``1.2 s``, ``75 s``."""
    if millis < 1000:
        return f"{millis} ms"
    return f"{millis / 1000:.1f} s" if millis < 10_000 else f"{millis / 1000:.0f} s"


def _cells(job: TrainingJob, wide: bool, now: float, phase: str) -> tuple[str, ...]:
    name, state, reason, step, ranks, restarts, checkpoint, goodput, age = row(job, False, now)
    status = job.status
    pace = step_time(status.step_millis.median) if status.step_millis else ""
    cells = (
        *(name, state, reason, step, pace, phase, ranks, restarts, checkpoint),
        *(verdict_word(status), goodput and f"{goodput} %", age),
    )
    if not wide:
        return cells
    incident = status.incident.message if status.incident else ""
    return (job.metadata.namespace, *cells, str(status.attempt), incident)


def _on_slurm(job: TrainingJob) -> str:
    """``1234 PENDING (Resources)``."""
    told = job.status.slurm
    if told is None:
        return ""
    return f"{told.job_id} {told.state}" + (f" ({told.reason})" if told.reason else "")


def _without(cells: Sequence[str], header: Sequence[str], names: set[str]) -> tuple[str, ...]:
    return tuple(cell for cell, name in zip(cells, header, strict=True) if name not in names)
