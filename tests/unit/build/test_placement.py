"""The Job of a placement never replaces a worker, and goes with its TrainingJob."""

from __future__ import annotations

from hedgerow_operator.build.placement import placement_job
from tests.unit.build.examples import INJECTION, UID, job


def test_it_is_named_by_its_first_attempt_and_lies_beside_its_job() -> None:
    metadata = placement_job(job(), 7, (), INJECTION)["metadata"]
    assert (metadata["name"], metadata["namespace"]) == ("bert-7", "research")


def test_it_starts_every_worker_at_once_by_index() -> None:
    spec = placement_job(job(workers=5), 1, (), INJECTION)["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 5, 5)


def test_no_failure_is_ignored_and_none_is_retried() -> None:
    spec = placement_job(job(), 1, (), INJECTION)["spec"]
    assert spec["backoffLimit"] == 0
    assert {rule["action"] for rule in spec["podFailurePolicy"]["rules"]} == {"FailJob"}
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_it_is_kept_until_the_operator_removes_it() -> None:
    assert "ttlSecondsAfterFinished" not in placement_job(job(), 1, (), INJECTION)["spec"]


def test_it_belongs_to_its_training_job() -> None:
    assert placement_job(job(), 1, (), INJECTION)["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "hedgerow.dev/v1alpha1",
            "kind": "TrainingJob",
            "name": "bert",
            "uid": UID,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_the_same_input_gives_the_same_manifest_whatever_the_order_of_excluded_nodes() -> None:
    assert placement_job(job(), 1, ("a", "b"), INJECTION) == placement_job(job(), 1, ("b", "a"), INJECTION)


def test_what_it_avoids_is_written_on_it_for_whoever_looks_whether_that_still_holds() -> None:
    avoiding = placement_job(job(), 1, ("b", "a"), INJECTION)
    assert avoiding["metadata"]["annotations"] == {"hedgerow.dev/avoided-nodes": "a,b"}
    assert "annotations" not in placement_job(job(), 1, (), INJECTION)["metadata"]
