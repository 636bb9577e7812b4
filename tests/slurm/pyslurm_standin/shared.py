"""What both lines of pyslurm have in common, over Slurm's own commands: same names, same types, same oddities.

It runs in the process beside the operator, as pyslurm does, and blocks it as pyslurm does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

INVALID_JOB_ID = 2017
NO_CONTROLLER = 1800
_OPTIONS = {
    "name": "job-name",
    "comment": "comment",
    "working_directory": "chdir",
    "partitions": "partition",
    "account": "account",
    "qos": "qos",
    "nodes": "nodes",
    "ntasks": "ntasks",
    "ntasks_per_node": "ntasks-per-node",
    "cpus_per_task": "cpus-per-task",
    "constraints": "constraint",
    "dependencies": "dependency",
    "standard_output": "output",
    "standard_error": "error",
    "excluded_nodes": "exclude",
    "required_nodes": "nodelist",
    "time_limit": "time",
    "log_files_open_mode": "open-mode",
    "signal": "signal",
}
_FLAGS = {
    "is_requeueable": ("--requeue", "--no-requeue"),
    "kill_on_invalid_dependency": ("--kill-on-invalid-dep=yes", ""),
}
_ELSEWHERE = ("script", "environment", "priority")
_NUMBERS = {"Invalid job id specified": INVALID_JOB_ID, "Unable to contact slurm controller": NO_CONTROLLER}


class RPCError(Exception):
    """errno: of Slurm; msg: in words."""

    def __init__(self, errno: int = 0, msg: str = "") -> None:
        super().__init__(msg)
        self.errno, self.msg = errno, msg


def run(*words: str, environment: dict[str, str] | None = None) -> str:
    """What a command prints. Raises RPCError."""
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        said = done.stderr.strip()
        raise RPCError(next((number for words, number in _NUMBERS.items() if words in said), 2000), said)
    return done.stdout


def listing(*words: str) -> list[Any]:
    """What a command lists as JSON: with its controller away it lists nothing, and ends well. Raises RPCError."""
    document = json.loads(run(*words))
    if document.get("errors"):
        raise RPCError(NO_CONTROLLER, "Unable to contact slurm controller (connect failure)")
    (entries,) = (value for name, value in document.items() if name in ("jobs", "nodes"))
    return list(entries)


class Job:
    """A job by its id; what it is comes with load."""

    def __init__(self, job_id: int) -> None:
        if not isinstance(job_id, int):
            raise TypeError("an integer is required")
        self.id = job_id
        self._shown: dict[str, Any] = {}

    @classmethod
    def load(cls, job_id: int) -> Job:
        """As it is now."""
        run("scontrol", "show", "job", str(job_id))
        return Jobs.load()[job_id]

    def cancel(self) -> None:
        """Of an unknown one nothing is said. (scancel, unlike the library, takes no task of an array by its number.)"""
        array, task = self._shown.get("array_job_id"), self._shown.get("array_task_id")
        run("scancel", "--quiet", f"{array}_{task}" if array and task is not None else str(self.id))

    def requeue(self, hold: bool = False) -> None:
        """Back into the queue."""
        run("scontrol", "requeuehold" if hold else "requeue", str(self.id))

    def release(self) -> None:
        """Let it be scheduled again."""
        run("scontrol", "release", str(self.id))

    def modify(self, changes: JobSubmitDescription) -> None:
        """Nothing but the excluded nodes and the comment is known here; what is empty stays as it is."""
        given = changes.__dict__
        told = {"ExcNodeList": ",".join(given.get("excluded_nodes", ())), "Comment": given.get("comment", "")}
        run("scontrol", "update", f"jobid={self.id}", *(f"{name}={value}" for name, value in told.items() if value))

    def __getattr__(self, name: str) -> Any:
        if name not in _SHOWN:
            raise AttributeError(f"'pyslurm.Job' object has no attribute '{name}'")
        return _SHOWN[name](self._shown)


_SHOWN: dict[str, Any] = {
    "array_id": lambda shown: shown["array_job_id"] or None,
    "array_task_id": lambda shown: shown["array_task_id"],
    "array_tasks_waiting": lambda shown: shown["array_task_string"] or None,
    "heterogeneous_id": lambda shown: shown["het_job_id"] or None,
    "heterogeneous_offset": lambda shown: shown["het_job_offset"],
    "name": lambda shown: shown["name"],
    "comment": lambda shown: shown["comment"] or None,
    "user_name": lambda shown: shown["user_name"],
    "partition": lambda shown: shown["partition"],
    "state": lambda shown: shown["job_state"],
    "state_reason": lambda shown: shown["state_reason"],
    "is_requeueable": lambda shown: shown["requeue"],
    "requeue_count": lambda shown: shown["restart_cnt"],
    "allocated_nodes": lambda shown: shown["nodes"] or None,
    "excluded_nodes": lambda shown: shown["excluded_nodes"] or None,
    "submit_time": lambda shown: shown["submit_time"] or None,
    "eligible_time": lambda shown: shown["eligible_time"] or None,
    "start_time": lambda shown: shown["start_time"] or None,
    "end_time": lambda shown: shown["end_time"] or None,
    "time_limit": lambda shown: shown["time_limit"],
    "exit_code": lambda shown: (shown["exit_code"] or 0) >> 8,
    "exit_code_signal": lambda shown: (shown["exit_code"] or 0) & 127,
}


class Jobs(dict[int, Job]):
    """Every job by its id."""

    @classmethod
    def load(cls, preload_passwd_info: bool = False, frozen: bool = False) -> Jobs:
        """As they are now."""
        jobs = cls()
        for shown in listing("squeue", "--json", "--states=all"):
            job = Job(shown["job_id"])
            job._shown = shown
            jobs[job.id] = job
        return jobs


class Node:
    """A node by its name; other attributes are changes."""

    def __init__(self, name: str | None = None, **changes: Any) -> None:
        self.name = name
        self._changes = changes
        self._shown: dict[str, Any] = {}

    def modify(self, node: Node) -> None:
        """Change it."""
        run("scontrol", "update", f"nodename={self.name}", *(f"{key}={value}" for key, value in node._changes.items()))

    @property
    def state(self) -> str:
        """Compound, such as IDLE+DRAIN."""
        return "+".join([self._shown["state"].upper(), *self._shown["state_flags"]])

    @property
    def reason(self) -> str | None:
        """Why it is drained or down."""
        return self._shown["reason"] or None

    @property
    def reason_user(self) -> str | None:
        """Who said so."""
        return self._shown["reason_set_by_user"] or None

    @property
    def address(self) -> str:
        """Of its slurmd."""
        return str(self._shown["address"])

    @property
    def partitions(self) -> list[str]:
        """It belongs to these."""
        return list(self._shown["partitions"])

    @property
    def configured_gres(self) -> dict[str, int]:
        """By name."""
        found = re.findall(r"([^:,]+):(\d+)", self._shown["gres"])
        return {name: int(count) for name, count in found}


class Nodes(dict[str, Node]):
    """Every node by its name."""

    @classmethod
    def load(cls, preload_passwd_info: bool = False) -> Nodes:
        """As they are now."""
        nodes = cls()
        for shown in listing("sinfo", "--json"):
            nodes[shown["name"]] = node = Node(shown["name"])
            node._shown = shown
        return nodes


class JobSubmitDescription:
    """What to submit; an attribute that it has not is an error, as with every extension type."""

    gres_name = ""
    own: tuple[str, ...] = ()

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in (*_OPTIONS, *_FLAGS, *_ELSEWHERE, *self.own, self.gres_name):
            raise AttributeError(f"'pyslurm.JobSubmitDescription' object has no attribute '{name}'")
        self.__dict__[name] = value

    def check(self) -> None:
        """What this line is particular about."""

    def submit(self) -> int:
        """The new id."""
        self.check()
        given = dict(self.__dict__)
        script, environment = given.pop("script"), given.pop("environment")
        words = ["--hold"] if given.pop("priority", None) == 0 else []
        if self.gres_name in given:
            words.append(f"--gres={given.pop(self.gres_name)}")
        for name, (on, off) in _FLAGS.items():
            if name in given:
                words.append(on if given.pop(name) else off)
        words += [f"--{_OPTIONS[name]}={value}" for name, value in given.items()]
        copied = {name: value for name, value in os.environ.items() if name.startswith("SLURM_")}
        answer = run("sbatch", "--parsable", *filter(None, words), script, environment={**copied, **environment})
        return int(answer.split(";")[0])
