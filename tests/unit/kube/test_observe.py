"""What is left of each placement."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.adapters.kube.observe import placement_seen, sort_by_placement
from hedgerow_operator.api.times import parse_time

NOW = parse_time("2026-01-02T03:05:00Z")


def labelled(name: str, placement: str, **more: Any) -> dict[str, Any]:
    metadata = {
        "name": name,
        "labels": {"hedgerow.dev/placement": placement},
        "creationTimestamp": "2026-01-02T03:04:00Z",
    }
    return {"metadata": {**metadata, **more.pop("metadata", {})}, **more}


def job(placement: str = "1", **status: Any) -> dict[str, Any]:
    return labelled(f"bert-{placement}", placement, status=status)


def pod(name: str, placement: str = "1", index: str = "0") -> dict[str, Any]:
    fields = labelled(name, placement, spec={}, status={"phase": "Running"})
    fields["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] = index
    return fields


def test_jobs_and_pods_are_brought_together_by_placement_oldest_first() -> None:
    found = sort_by_placement([job("10"), job("9")], [pod("a", "9"), pod("b", "2")])
    assert [(entry.attempt, len(entry.jobs), len(entry.pods)) for entry in found] == [(2, 0, 1), (9, 1, 1), (10, 1, 0)]


def test_what_names_no_placement_is_not_ours() -> None:
    assert sort_by_placement([job("x"), {"metadata": {"name": "y"}}], [pod("a", "")]) == ()


def seen(jobs: list[dict[str, Any]], pods: list[dict[str, Any]]) -> Any:
    (found,) = sort_by_placement(jobs, pods)
    return placement_seen(found, "trainer", {}, NOW)


def test_workers_come_in_the_order_of_their_index() -> None:
    workers = seen([job()], [pod("c", index="10"), pod("b", index="2"), pod("a", index="10")]).workers
    assert [(worker.index, worker.name) for worker in workers] == [(2, "b"), (10, "a"), (10, "c")]


def test_pods_without_their_job_are_a_placement_on_its_way_out() -> None:
    assert seen([], [pod("a")]).removing


def test_a_job_that_is_being_deleted_is_a_placement_on_its_way_out_even_without_pods() -> None:
    leaving = job()
    leaving["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:30Z"
    assert seen([leaving], []).removing


def test_a_job_that_stays_is_not_on_its_way_out() -> None:
    assert not seen([job()], []).removing


def test_where_its_launchers_report_is_read_from_what_was_made() -> None:
    env = [{"name": "HEDGEROW_WORKER", "valueFrom": {}}, {"name": "HEDGEROW_REPORT_URL", "value": "http://here:1"}]
    containers = [{"name": "sidecar"}, {"name": "trainer", "env": env}]
    made = {**job(), "spec": {"template": {"spec": {"containers": containers}}}}
    assert seen([made], []).report_url == "http://here:1"
    assert seen([job()], []).report_url == ""


def test_its_age_counts_from_its_creation() -> None:
    assert seen([job()], []).age_seconds == 60.0


ENDS: dict[str, tuple[list[dict[str, str]], tuple[str, str]]] = {
    "no condition: not over": ([], ("", "")),
    "suspended: not over": ([{"type": "Suspended", "status": "True"}], ("", "")),
    "complete": (
        [{"type": "Complete", "status": "True", "reason": "CompletionsReached"}],
        ("Succeeded", "CompletionsReached"),
    ),
    "about to be called failed: over, whatever still terminates": (
        [{"type": "FailureTarget", "status": "True", "reason": "PodFailurePolicy", "message": "pod bert-1-0 failed"}],
        ("Failed", "PodFailurePolicy: pod bert-1-0 failed"),
    ),
    "a condition that is false": ([{"type": "Failed", "status": "False"}], ("", "")),
}


@pytest.mark.parametrize("case", ENDS)
def test_whether_it_is_over(case: str) -> None:
    conditions, expected = ENDS[case]
    found = seen([job(conditions=conditions)], [])
    assert (found.ended, found.ended_reason) == expected


def test_a_placement_says_which_nodes_it_was_made_to_avoid() -> None:
    made = job()
    made["metadata"]["annotations"] = {"hedgerow.dev/avoided-nodes": "a,b"}
    assert seen([made], []).avoided == ("a", "b")
    assert seen([job()], []).avoided == ()
