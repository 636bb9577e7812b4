"""A TrainingJob goes from plain objects to frozen structs and back without loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hedgerow_operator.api.status import RanksStatus, TrainingJobStatus
from hedgerow_operator.api.training_job import training_job, training_job_fields

TEMPLATE = {
    "metadata": {"labels": {"team": "a"}, "creationTimestamp": None},
    "spec": {
        "containers": [{"name": "train", "command": ["python"], "resources": {"limits": {"nvidia.com/gpu": 8}}}],
        "tolerations": [{"operator": "Exists"}],
        "volumes": [{"name": "ckpt", "emptyDir": None}],
    },
}


def job_fields(**spec: Any) -> dict[str, Any]:
    spec = {"workers": 2, "ranksPerWorker": 4, **spec}
    return {
        "apiVersion": "hedgerow.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "llama", "namespace": "team-a", "uid": "u1", "generation": 3, "managedFields": [{}]},
        "spec": spec,
    }


def test_defaults_are_filled_in() -> None:
    spec = training_job(job_fields(local={"command": ["python", "train.py"]})).spec
    assert spec.ranks == 8
    assert spec.recovery.max_restarts == 10
    assert (spec.health.stall.min_seconds, spec.health.stall.max_seconds) == (10, 1800)
    assert spec.local is not None
    assert spec.local.working_dir == "."


def test_the_pod_template_keeps_every_field_it_came_with() -> None:
    job = training_job(job_fields(kubernetes={"template": TEMPLATE}))
    assert training_job_fields(job)["spec"]["kubernetes"]["template"] == TEMPLATE


def test_what_is_not_known_is_left_out_and_zero_is_written() -> None:
    job = training_job(job_fields(local={"command": ["a"]}))
    status = training_job_fields(job)["status"]
    assert "step" not in status
    assert "incident" not in status
    assert status["restarts"] == 0


def test_reading_what_was_written_gives_the_same_job() -> None:
    fields = job_fields(local={"command": ["a"]}, cost={"gpuHourUSD": "2.49"})
    fields["status"] = {
        "conditions": [{"type": "Running", "status": "True", "reason": "Training", "observedGeneration": 3}],
        "lostGPUSeconds": 12,
        "ranks": {"expected": 8, "reporting": 7, "missing": ["worker 1 rank 7"], "summary": "7/8"},
    }
    job = training_job(fields)
    assert training_job(json.loads(json.dumps(training_job_fields(job)))) == job
    assert job.status.lost_gpu_seconds == 12
    assert job.status.ranks == RanksStatus(expected=8, reporting=7, missing=("worker 1 rank 7",), summary="7/8")


def test_a_status_field_of_a_newer_version_is_passed_over() -> None:
    fields = job_fields(local={"command": ["a"]}) | {"status": {"attempt": 2, "fromTheFuture": 1}}
    assert training_job(fields).status == TrainingJobStatus(attempt=2)


def test_a_field_of_the_wrong_type_is_named() -> None:
    with pytest.raises(ValueError, match=r"workers"):
        training_job(job_fields(workers="four", local={"command": ["a"]}))
