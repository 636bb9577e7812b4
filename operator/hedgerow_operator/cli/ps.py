"""`hedgerow ps`: a line for each job of a state directory, and one for each endpoint."""

import json
import time
from pathlib import Path
from typing import Any

import click

from hedgerow_operator.api.times import parse_time
from hedgerow_operator.cli.found_endpoints import FoundEndpoint, find_endpoints
from hedgerow_operator.cli.found_jobs import Found, find
from hedgerow_operator.cli.views.columns import age, aligned, row

# What is shown of a job that nobody looks after instead of how it stood when somebody did.
_ORPHANED = ("Unwatched", "SupervisorGone")
_HEADER = ("NAME", "STATE", "REASON", "STEP", "RANKS", "RESTARTS", "CHECKPOINT", "AGE", "PID")
# As `kubectl get ie` shows them.
_ENDPOINTS = ("ENDPOINT", "STATE", "REASON", "URL", "REQUESTS", "HEDGED", "P95", "SPEND", "AGE", "PID")
# What is shown of an endpoint that nobody serves any more.
_ENDED = ("Stopped", "NotServed", "-")


def list_jobs(state_dir: Path, output: str | None) -> None:
    """Print them, and the endpoints. Raises click.ClickException when there is nothing to list."""
    endpoints, now = find_endpoints(state_dir), time.time()
    state = find(state_dir, may_be_empty=bool(endpoints))
    if output == "json":
        objects = (*(_object(found, now) for found in state.jobs), *(_endpoint(found, now) for found in endpoints))
        click.echo("\n".join(map(json.dumps, objects)))
        return
    if state.jobs:
        click.echo("\n".join(aligned([_HEADER, *(_cells(found, now) for found in state.jobs)])))
    for found in state.jobs:
        if found.is_orphaned:
            click.echo(state.told(found))
    if endpoints:
        rows = aligned([_ENDPOINTS, *(_endpoint_cells(found, now) for found in endpoints)])
        click.echo("\n".join(["", *rows] if state.jobs else rows))


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
        "kind": job.kind,
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


def _endpoint_cells(found: FoundEndpoint, now: float) -> tuple[str, ...]:
    endpoint, status = found.endpoint, found.endpoint.status
    created, served = endpoint.metadata.creation_timestamp, found.pid is not None
    return (
        endpoint.metadata.name,
        *((status.state, status.reason, status.url) if served else _ENDED),
        str(status.requests),
        "" if status.hedged_percent is None else f"{status.hedged_percent}%",
        "" if status.p95_millis is None else f"{status.p95_millis / 1000:.2f}s",
        f"${status.spend.day_usd}" if status.spend else "",
        age(now - parse_time(created)) if created else "",
        str(found.pid or "?") if served else "-",
    )


def _endpoint(found: FoundEndpoint, now: float) -> dict[str, Any]:
    endpoint, status = found.endpoint, found.endpoint.status
    created, served = endpoint.metadata.creation_timestamp, found.pid is not None
    state, reason, url = (status.state, status.reason, status.url) if served else (*_ENDED[:2], None)
    return {
        "kind": endpoint.kind,
        "namespace": endpoint.metadata.namespace,
        "name": endpoint.metadata.name,
        "state": state,
        "reason": reason,
        "url": url,
        "requests": status.requests,
        "hedgedPercent": status.hedged_percent,
        "p95Millis": status.p95_millis,
        "dayUSD": status.spend.day_usd if status.spend else None,
        "ageSeconds": round(now - parse_time(created)) if created else None,
        "pid": found.pid or None,
        "served": served,
    }
