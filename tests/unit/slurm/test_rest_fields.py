"""sbatch's options become fields of both generations of the REST interface; what has no field is refused by name."""

from typing import Any

import pytest

from hedgerow_operator.adapters.slurm.rest.fields import job_fields
from hedgerow_operator.core.slurm.seen import Submission
from hedgerow_operator.reconcile.ports import Refused

OLD: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "never requeued: false would be taken and forgotten": ({"no-requeue": ""}, {"no_requeue": True}),
    "nodes to avoid, under an undocumented name": ({"exclude": "n[1-2]"}, {"exclude_nodes": "n[1-2]"}),
    "two days": ({"time": "2-00:00:00"}, {"time_limit": 2880}),
    "no limit": ({"time": "UNLIMITED"}, {}),
    "four gigabytes": ({"mem": "4G"}, {"memory_per_node": 4096}),
    "a signal to the steps": ({"signal": "TERM@60"}, {"signal": "TERM@60"}),
    "GPUs": ({"gres": "gpu:8"}, {"gres": "gpu:8"}),
    "ended with what it depends on": ({"kill-on-invalid-dep": "yes"}, {"kill_on_invalid_dependency": True}),
    "what is exported: the environment is all that there is": ({"export": "NONE"}, {}),
}
NEW: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "never requeued": ({"no-requeue": ""}, {"requeue": False}),
    "nodes to avoid": ({"exclude": "n[1-2]"}, {"excluded_nodes": ["n1", "n2"]}),
    "two days": ({"time": "2-00:00:00"}, {"time_limit": {"set": True, "infinite": False, "number": 2880}}),
    "no limit": ({"time": "UNLIMITED"}, {"time_limit": {"set": True, "infinite": True, "number": 0}}),
    "a signal to the batch script": (
        {"signal": "B:USR1@30"},
        {
            "kill_warning_signal": "USR1",
            "kill_warning_delay": {"set": True, "infinite": False, "number": 30},
            "kill_warning_flags": ["BATCH_JOB"],
        },
    ),
    "GPUs": ({"gres": "gpu:8"}, {"tres_per_node": "gres/gpu:8"}),
    "output that goes on": ({"open-mode": "append"}, {"open_mode": ["APPEND"]}),
}
BAD = {
    "an option without a field": (True, {"burst-buffer": "x"}, "no field for --burst-buffer"),
    "a number that is none": (True, {"ntasks": "many"}, "--ntasks=many cannot be sent"),
    "a signal to the batch script, before v0.0.39": (True, {"signal": "B:TERM@60"}, "write it without B:"),
}


def submission(options: dict[str, str]) -> Submission:
    return Submission(name="job", comment="hedgerow:u:1", script="#!/bin/sh\n", options=options, directory="/shared")


def own(old: bool) -> set[str]:
    return set(job_fields(submission({}), old))


@pytest.mark.parametrize(("options", "fields"), OLD.values(), ids=OLD.keys())
def test_before_v0_0_39(options: dict[str, str], fields: dict[str, Any]) -> None:
    found = job_fields(submission(options), old=True)
    assert {name: found[name] for name in set(found) - own(True)} == fields


@pytest.mark.parametrize(("options", "fields"), NEW.values(), ids=NEW.keys())
def test_from_v0_0_39_on(options: dict[str, str], fields: dict[str, Any]) -> None:
    found = job_fields(submission(options), old=False)
    assert {name: found[name] for name in set(found) - own(False)} == fields


def test_there_is_always_an_environment_since_it_is_required() -> None:
    assert job_fields(submission({}), old=True)["environment"] == {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    assert job_fields(submission({}), old=False)["environment"] == ["PATH=/usr/local/bin:/usr/bin:/bin"]


@pytest.mark.parametrize(("old", "options", "words"), BAD.values(), ids=BAD.keys())
def test_it_is_refused(old: bool, options: dict[str, str], words: str) -> None:
    with pytest.raises(Refused, match=words):
        job_fields(submission(options), old)
