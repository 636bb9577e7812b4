"""What a running job's ranks were started with stays; what steers Hedgerow may change."""

from __future__ import annotations

from typing import Any

import cel
import pytest

from hedgerow_operator.api.model import to_builtins
from hedgerow_operator.api.rules import CHANGE_RULES
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.training_job import training_job
from hedgerow_operator.api.validate import change_problems

LOCAL = {"workers": 2, "ranksPerWorker": 2, "local": {"command": ["python", "train.py"]}}
TEMPLATE = {"spec": {"containers": [{"name": "train", "command": ["python"], "resources": {}}]}}
OTHER_TEMPLATE = {"spec": {**TEMPLATE["spec"], "nodeName": "node1"}}
PODS = {"workers": 2, "ranksPerWorker": 2, "kubernetes": {"template": TEMPLATE}}
SLURM = {"workers": 2, "ranksPerWorker": 2, "slurm": {"script": "python train.py", "gres": "gpu:8"}}


def of_slurm(**changes: Any) -> dict[str, Any]:
    return {"slurm": {"script": "python train.py", "gres": "gpu:8", **changes}}


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "more workers": (LOCAL, {"workers": 3}, "spec.workers"),
    "other ranks per worker": (LOCAL, {"ranksPerWorker": 1}, "spec.ranksPerWorker"),
    "another way to start the ranks": (LOCAL, {"processes": "PerWorker"}, "spec.processes"),
    "another port": (LOCAL, {"masterPort": 29500}, "spec.masterPort"),
    "another command": (LOCAL, {"local": {"command": ["python", "other.py"]}}, "spec.local"),
    "another place": (SLURM, {"slurm": None}, "spec.slurm"),
    "another script": (SLURM, of_slurm(script="python other.py"), "spec.slurm"),
    "other resources of each node": (SLURM, of_slurm(gres="gpu:4"), "spec.slurm"),
    "another launch": (SLURM, of_slurm(launch="PerTask"), "spec.slurm"),
    "another cluster": (SLURM, of_slurm(clusterRef={"name": "b"}), "spec.slurm"),
    "an unknown field of the template": (PODS, {"kubernetes": {"template": OTHER_TEMPLATE}}, "spec.kubernetes"),
    "another heartbeat": (LOCAL, {"heartbeat": {"source": "Torch"}}, "spec.heartbeat"),
    "a checkpoint directory where there was none": (LOCAL, {"checkpoint": {"directory": "/c"}}, "spec.checkpoint"),
    "another grace": (LOCAL, {"recovery": {"graceSeconds": 1}}, "spec.recovery.graceSeconds"),
    "another fence": (LOCAL, {"recovery": {"fenceSeconds": 60}}, "spec.recovery.fenceSeconds"),
}

ALLOWED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a default written out": {"recovery": {"graceSeconds": 30}, "masterPort": 0},
    "suspension": {"suspend": True},
    "watching only": {"recovery": {"mode": "Observe"}},
    "budgets": {"recovery": {"maxRestarts": 1, "noProgressLimit": 9, "backoff": {"initialSeconds": 0}}},
    "deadlines": {"health": {"stall": {"maxSeconds": 60}, "phases": [{"name": "eval", "maxSeconds": 9}]}},
    "its end": {"ttlSecondsAfterFinished": 1, "activeDeadlineSeconds": 1},
    "its price": {"cost": {"gpuHourUSD": "1"}},
}


def spec(fields: dict[str, Any]) -> TrainingJobSpec:
    return training_job({"metadata": {"name": "a"}, "spec": fields}).spec


def refused_by_cel(old: TrainingJobSpec, new: TrainingJobSpec) -> list[str]:
    context = {"self": to_builtins(new), "oldSelf": to_builtins(old)}
    return [rule.place for rule in CHANGE_RULES if not cel.evaluate(rule.cel, context)]


@pytest.mark.parametrize(("fields", "change", "want"), REFUSED.values(), ids=REFUSED.keys())
def test_is_refused_with_a_way_out(fields: dict[str, Any], change: dict[str, Any], want: str) -> None:
    old, new = spec(fields), spec({**fields, **change})
    (problem,) = change_problems(old, new)
    assert problem.at == want
    assert "cannot change after creation; delete the job and create it again" in problem.sentence
    assert refused_by_cel(old, new) == [want]


@pytest.mark.parametrize("change", ALLOWED.values(), ids=ALLOWED.keys())
def test_is_allowed(change: dict[str, Any]) -> None:
    old, new = spec(LOCAL), spec({**LOCAL, **change})
    assert list(change_problems(old, new)) == []
    assert refused_by_cel(old, new) == []


def test_what_the_next_batch_job_is_submitted_with_may_change() -> None:
    changed = of_slurm(timeLimit="3-0", partition="b", account="c", qos="d", resubmit="Requeue", options={"mem": "9G"})
    old, new = spec(SLURM), spec({**SLURM, **changed})
    assert list(change_problems(old, new)) == []
    assert refused_by_cel(old, new) == []


def test_every_rule_is_tried() -> None:
    assert {want for _, _, want in REFUSED.values()} == {rule.place for rule in CHANGE_RULES}
