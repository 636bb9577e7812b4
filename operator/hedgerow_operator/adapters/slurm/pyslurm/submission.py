"""sbatch's options as attributes of pyslurm's JobSubmitDescription."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hedgerow_operator.adapters.slurm.pyslurm.lines import gres_name
from hedgerow_operator.core.slurm.seen import Submission

Put = Callable[[str], dict[str, Any]]


def _text(name: str) -> Put:
    return lambda value: {name: value}


def _count(name: str) -> Put:
    return lambda value: {name: int(value)}


def _flag(name: str, on: bool = True) -> Put:
    return lambda value: {name: on}


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
    "partition": _text("partitions"),
    "account": _text("account"),
    "qos": _text("qos"),
    "nodes": _text("nodes"),
    "ntasks": _count("ntasks"),
    "ntasks-per-node": _count("ntasks_per_node"),
    "cpus-per-task": _count("cpus_per_task"),
    "constraint": _text("constraints"),
    "reservation": _text("reservations"),
    "licenses": _text("licenses"),
    "dependency": _text("dependencies"),
    "output": _text("standard_output"),
    "error": _text("standard_error"),
    "input": _text("standard_in"),
    "hold": lambda value: {"priority": 0},
    "nice": _count("nice"),
    "wckey": _text("wckey"),
    "requeue": _flag("is_requeueable"),
    "no-requeue": _flag("is_requeueable", on=False),
    "exclude": _text("excluded_nodes"),
    "nodelist": _text("required_nodes"),
    "time": _time,
    "mem": _text("memory_per_node"),
    "mem-per-cpu": _text("memory_per_cpu"),
    "open-mode": _text("log_files_open_mode"),
    "kill-on-invalid-dep": lambda value: {"kill_on_invalid_dependency": value == "yes"},
    "signal": _signal,
    "mail-user": _text("mail_user"),
    "mail-type": _text("mail_types"),
}
_WITHOUT_MEANING = frozenset({"export"})


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
    options = {**_OPTIONS, "gres": _text(gres_name(line))}
    for option, value in submission.options.items():
        if option in _WITHOUT_MEANING:
            continue
        if option not in options:
            raise ValueError(f"pyslurm has nothing for --{option}; take it out, or use the CLI driver")
        attributes.update(options[option](value))
    handle, path = tempfile.mkstemp(prefix="hedgerow-", suffix=".sh")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(submission.script)
        yield attributes | {"script": path}
    finally:
        os.unlink(path)
