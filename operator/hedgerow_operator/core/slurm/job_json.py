"""Jobs from the JSON of `squeue --json` and slurmrestd, 21.08 to today."""

from collections.abc import Mapping
from typing import Any

from hedgerow_operator.core.slurm import values
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_words import has_ended, job_state, nothing_as_empty


def read_jobs(document: Any) -> tuple[SlurmJob, ...]:
    """Every job of an answer. An entry without an id is left out; whatever else is wrong with one costs that value."""
    entries = document.get("jobs") if isinstance(document, Mapping) else None
    known = [
        entry for entry in values.items(entries) if isinstance(entry, Mapping) and values.whole(entry.get("job_id"))
    ]
    return tuple(read_job(entry) for entry in known)


def read_job(entry: Mapping[str, Any]) -> SlurmJob:
    """One job."""
    shown = entry.get("job_state")
    state, flags = job_state(shown if isinstance(shown, str | list) else "")
    limit = values.number(entry.get("time_limit"))
    ended = has_ended(state)
    return SlurmJob(
        id=job_id(entry),
        state=state,
        flags=flags,
        reason=nothing_as_empty(values.text(entry.get("state_reason"))),
        comment=values.text(entry.get("comment")),
        name=values.text(entry.get("name")),
        user=values.text(entry.get("user_name")),
        partition=values.text(entry.get("partition")),
        nodes=values.hosts(entry.get("nodes")),
        excluded=values.hosts(entry.get("excluded_nodes")),
        exit_status=values.exit_status(entry.get("exit_code")) if ended else None,
        submitted_at=values.time(entry.get("submit_time")),
        eligible_at=values.time(entry.get("eligible_time")),
        started_at=values.time(entry.get("start_time")) if state != "PENDING" else None,
        ended_at=values.time(entry.get("end_time")) if ended else None,
        time_limit_seconds=None if limit is None else limit * 60,
        restarts=values.whole(entry.get("restart_cnt")),
        requeue=entry.get("requeue") is True,
    )


def job_id(entry: Mapping[str, Any]) -> str:
    """As users write it."""
    array, task, tasks = (entry.get(name) for name in ("array_job_id", "array_task_id", "array_task_string"))
    if values.whole(array):
        one = values.number(task)
        if one is not None:
            return f"{values.whole(array)}_{one:.0f}"
        return f"{values.whole(array)}_[{tasks}]" if values.text(tasks) else str(values.whole(array))
    if values.whole(entry.get("het_job_id")):
        return f"{values.whole(entry['het_job_id'])}+{values.whole(entry.get('het_job_offset'))}"
    return str(values.whole(entry.get("job_id")))


def release(document: Any) -> str:
    """The version of Slurm that answered, such as 22.05.8; empty when it does not say."""
    meta = document.get("meta") if isinstance(document, Mapping) else None
    about = (meta.get("slurm") or meta.get("Slurm")) if isinstance(meta, Mapping) else None
    return values.text(about.get("release")) if isinstance(about, Mapping) else ""
