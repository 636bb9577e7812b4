"""sbatch's options as attributes of pyslurm's JobSubmitDescription."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from hedgerow_operator.adapters.slurm.option_fields import Put, count, fields_of, flag, text
from hedgerow_operator.adapters.slurm.pyslurm.lines import gres_name
from hedgerow_operator.core.slurm.seen import Submission


def _time(value: str) -> dict[str, Any]:
    # A number as text is refused.
    return {"time_limit": int(value) if value.isdigit() else value}


def _signal(value: str) -> dict[str, Any]:
    """Names need SIG in front; sbatch takes them without."""
    flags, colon, rest = value.rpartition(":")
    name, at, seconds = rest.partition("@")
    if not name.isdigit() and not name.startswith("SIG"):
        name = f"SIG{name}"
    return {"signal": f"{flags}{colon}{name}{at}{seconds}"}


_OPTIONS: Mapping[str, Put] = {
    "partition": text("partitions"),
    "account": text("account"),
    "qos": text("qos"),
    "nodes": text("nodes"),
    "ntasks": count("ntasks"),
    "ntasks-per-node": count("ntasks_per_node"),
    "cpus-per-task": count("cpus_per_task"),
    "constraint": text("constraints"),
    "reservation": text("reservations"),
    "licenses": text("licenses"),
    "dependency": text("dependencies"),
    "output": text("standard_output"),
    "error": text("standard_error"),
    "input": text("standard_in"),
    "hold": lambda value: {"priority": 0},
    "nice": count("nice"),
    "wckey": text("wckey"),
    "requeue": flag("is_requeueable"),
    "no-requeue": flag("is_requeueable", on=False),
    "exclude": text("excluded_nodes"),
    "nodelist": text("required_nodes"),
    "time": _time,
    "mem": text("memory_per_node"),
    "mem-per-cpu": text("memory_per_cpu"),
    "open-mode": text("log_files_open_mode"),
    "kill-on-invalid-dep": lambda value: {"kill_on_invalid_dependency": value == "yes"},
    "signal": _signal,
    "mail-user": text("mail_user"),
    "mail-type": text("mail_types"),
}


@contextlib.contextmanager
def described(submission: Submission, line: str) -> Iterator[dict[str, Any]]:
    """The attributes; the script is a file while the block lasts. Raises ValueError naming an option without one.

    22.5 takes a long script for a path first, and fails at its length; and it copies every SLURM_* variable of its own
    process beside those that are given.
    """
    attributes: dict[str, Any] = {
        "name": submission.name,
        "comment": submission.comment,
        "working_directory": submission.directory,
        "environment": {"PATH": "/usr/local/bin:/usr/bin:/bin", **submission.environment},
    }
    options = {**_OPTIONS, "gres": text(gres_name(line))}
    attributes |= fields_of(submission.options, options, "pyslurm has nothing for")
    handle, path = tempfile.mkstemp(prefix="hedgerow-", suffix=".sh")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(submission.script)
        yield attributes | {"script": path}
    finally:
        os.unlink(path)
