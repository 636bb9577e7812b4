"""`hedgerow ps`: a line for each job of a state directory."""

import json
import time
from pathlib import Path
from typing import Any

import click

from hedgerow_operator.api.times import parse_time
from hedgerow_operator.cli.found_jobs import Found, find
from hedgerow_operator.cli.views.columns import aligned, row

# What is shown of a job that nobody looks after instead of how it stood when somebody did.
_ORPHANED = ("Unwatched", "SupervisorGone")
_HEADER = ("NAME", "STATE", "REASON", "STEP", "RANKS", "RESTARTS", "CHECKPOINT", "AGE", "PID")


def list_jobs(state_dir: Path, output: str | None) -> None:
    """Print them. Raises click.ClickException when there is nothing to list."""
    state, now = find(state_dir), time.time()
    if output == "json":
        click.echo("\n".join(json.dumps(_object(found, now)) for found in state.jobs))
        return
    for line in aligned([_HEADER, *(_cells(found, now) for found in state.jobs)]):
        click.echo(line)
    for found in state.jobs:
        if found.is_orphaned:
            click.echo(state.told(found))


def _cells(found: Found, now: float) -> tuple[str, ...]:
    name, state, reason, step, ranks, restarts, checkpoint, _goodput, age = row(found.job, False, now, found.phase)
    if found.is_orphaned:
        state, reason = _ORPHANED
    pid = "-" if found.pid is None else str(found.pid or "?")
    return name, state, reason, step, ranks, restarts, checkpoint, age, pid


def _object(found: Found, now: float) -> dict[str, Any]:
    job, status = found.job, found.job.status
    created, checkpoint = job.metadata.creation_timestamp, status.checkpoint
    state, reason = _ORPHANED if found.is_orphaned else (status.state, status.reason)
    return {
        "namespace": job.metadata.namespace,
        "name": job.metadata.name,
        "state": state,
        "reason": reason,
        "step": status.step,
        "phase": found.phase,
        "ranks": status.ranks.summary if status.ranks else "",
        "restarts": status.restarts,
        "checkpoint": {"step": checkpoint.step, "path": checkpoint.path} if checkpoint else None,
        "ageSeconds": round(now - parse_time(created)) if created else None,
        "pid": found.pid or None,
        "watched": found.pid is not None,
    }
