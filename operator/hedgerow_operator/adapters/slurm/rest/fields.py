"""sbatch's options as fields of a job that is submitted by REST, in both generations of names.

v0.0.38 and before: tried against slurmrestd 22.05, which takes ``"requeue": false`` and requeues all the same, and ends
itself at ``argv``. From v0.0.39 on: the schema job_desc_msg of Slurm's OpenAPI documents.
"""

from collections.abc import Mapping
from typing import Any

from hedgerow_operator.adapters.slurm.option_fields import Put, count, fields_of, flag, text
from hedgerow_operator.core.slurm.hostlist import expand
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.core.slurm.times import minutes
from hedgerow_operator.reconcile.ports import Refused


def _names(name: str) -> Put:
    return lambda value: {name: list(expand(value))}


def _number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


def _limit(name: str, wrapped: bool) -> Put:
    def put(value: str) -> dict[str, Any]:
        limit = minutes(value)
        if limit is None:
            return {name: {"set": True, "infinite": True, "number": 0}} if wrapped else {}
        return {name: _number(limit) if wrapped else limit}

    return put


def _megabytes(name: str, wrapped: bool) -> Put:
    units = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}

    def put(value: str) -> dict[str, Any]:
        unit = units.get(value[-1:].upper())
        size = int(float(value[:-1] if unit else value) * (unit or 1))
        return {name: _number(size) if wrapped else size}

    return put


def _old_signal(value: str) -> dict[str, Any]:
    if value.startswith("B:"):
        raise ValueError("this REST version signals steps only; write it without B:")
    return {"signal": value}


def _new_signal(value: str) -> dict[str, Any]:
    flags, _, rest = value.rpartition(":")
    name, _, seconds = rest.partition("@")
    fields: dict[str, Any] = {"kill_warning_signal": name, "kill_warning_delay": _number(int(seconds or 60))}
    return fields | ({"kill_warning_flags": ["BATCH_JOB"]} if "B" in flags else {})


_BOTH: Mapping[str, Put] = {
    "partition": text("partition"),
    "account": text("account"),
    "qos": text("qos"),
    "nodes": text("nodes"),
    "ntasks": count("tasks"),
    "ntasks-per-node": count("tasks_per_node"),
    "cpus-per-task": count("cpus_per_task"),
    "constraint": text("constraints"),
    "reservation": text("reservation"),
    "licenses": text("licenses"),
    "dependency": text("dependency"),
    "output": text("standard_output"),
    "error": text("standard_error"),
    "input": text("standard_input"),
    "hold": flag("hold"),
    "nice": count("nice"),
    "wckey": text("wckey"),
    "requeue": flag("requeue"),
    "mail-user": text("mail_user"),
}
_OLD: Mapping[str, Put] = {
    **_BOTH,
    "no-requeue": flag("no_requeue"),
    "exclude": text("exclude_nodes"),
    "nodelist": text("nodelist"),
    "time": _limit("time_limit", wrapped=False),
    "gres": text("gres"),
    "gpus-per-node": text("gpus_per_node"),
    "mem": _megabytes("memory_per_node", wrapped=False),
    "mem-per-cpu": _megabytes("memory_per_cpu", wrapped=False),
    "open-mode": text("open_mode"),
    "kill-on-invalid-dep": lambda value: {"kill_on_invalid_dependency": value == "yes"},
    "signal": _old_signal,
    "mail-type": text("mail_type"),
}
_NEW: Mapping[str, Put] = {
    **_BOTH,
    "no-requeue": flag("requeue", on=False),
    "exclude": _names("excluded_nodes"),
    "nodelist": _names("required_nodes"),
    "time": _limit("time_limit", wrapped=True),
    "gres": lambda value: {"tres_per_node": ",".join(f"gres/{entry}" for entry in value.split(","))},
    "gpus-per-node": lambda value: {"tres_per_node": f"gres/gpu:{value}"},
    "mem": _megabytes("memory_per_node", wrapped=True),
    "mem-per-cpu": _megabytes("memory_per_cpu", wrapped=True),
    "open-mode": lambda value: {"open_mode": [value.upper()]},
    "kill-on-invalid-dep": lambda value: {"flags": ["KILL_INVALID_DEPENDENCY"]} if value == "yes" else {},
    "signal": _new_signal,
    "mail-type": lambda value: {"mail_type": [entry.strip() for entry in value.split(",")]},
}


def job_fields(submission: Submission, old: bool) -> dict[str, Any]:
    """The field ``job``. Raises Refused naming an option that this interface has no field for, or cannot read."""
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", **submission.environment}
    fields: dict[str, Any] = {
        "name": submission.name,
        "comment": submission.comment,
        "current_working_directory": submission.directory,
        "environment": variables if old else [f"{name}={value}" for name, value in variables.items()],
    }
    try:
        return fields | fields_of(submission.options, _OLD if old else _NEW, "slurmrestd has no field for")
    except ValueError as error:
        raise Refused(str(error)) from None
