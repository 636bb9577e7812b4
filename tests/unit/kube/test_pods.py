"""What a pod says about its worker."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.adapters.kube.nodes import NodeFacts
from hedgerow_operator.adapters.kube.pods import worker_seen
from hedgerow_operator.api.times import parse_time

NOW = parse_time("2026-01-02T03:05:00Z")
RUNNING = {"running": {"startedAt": "2026-01-02T03:04:00Z"}}


def pod(status: dict[str, Any], node: str = "node1", **metadata: Any) -> dict[str, Any]:
    labels = {"batch.kubernetes.io/job-completion-index": "3"}
    spec = {"nodeName": node} if node else {}
    return {"metadata": {"name": "bert-1-3-abcde", "labels": labels, **metadata}, "spec": spec, "status": status}


def container(state: dict[str, Any], name: str = "trainer") -> dict[str, Any]:
    return {"name": name, "state": state}


def condition(kind: str, status: str, **rest: str) -> dict[str, Any]:
    return {"type": kind, "status": status, **rest}


NOT_SCHEDULED = condition("PodScheduled", "False", reason="Unschedulable", message="0/3 nodes are available")
PULL_FAILED = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "just created: pending, and nothing wrong": (
        pod({"phase": "Pending"}, node=""),
        {"phase": "Pending", "pulling": False, "waiting": "", "unschedulable": "", "node": ""},
    ),
    "no node takes it: the scheduler's own words": (
        pod({"phase": "Pending", "conditions": [NOT_SCHEDULED]}, node=""),
        {"phase": "Pending", "unschedulable": "0/3 nodes are available", "pulling": False},
    ),
    "gated, so not looked at by the scheduler yet: not unschedulable": (
        pod(
            {"phase": "Pending", "conditions": [condition("PodScheduled", "False", reason="SchedulingGated")]}, node=""
        ),
        {"phase": "Pending", "unschedulable": ""},
    ),
    "placed, and its images are being pulled": (
        pod({"phase": "Pending", "containerStatuses": [container({"waiting": {"reason": "ContainerCreating"}})]}),
        {"phase": "Pending", "pulling": True, "waiting": "", "node": "node1"},
    ),
    "an image cannot be pulled: which container, and why": (
        pod({"phase": "Pending", "containerStatuses": [container(PULL_FAILED)]}),
        {
            "phase": "Pending",
            "pulling": False,
            "waiting": "container trainer: ImagePullBackOff: Back-off pulling image",
        },
    ),
    "an init container cannot start": (
        pod({"phase": "Pending", "initContainerStatuses": [container(PULL_FAILED, "hedgerow-inject")]}),
        {"phase": "Pending", "waiting": "container hedgerow-inject: ImagePullBackOff: Back-off pulling image"},
    ),
    "running for a minute": (
        pod({"phase": "Running", "podIP": "10.0.0.7", "containerStatuses": [container(RUNNING)]}),
        {"phase": "Running", "address": "10.0.0.7", "running_seconds": 60.0, "exit_code": None},
    ),
    "only a container beside it runs yet: pending": (
        pod({"phase": "Running", "containerStatuses": [container(RUNNING, "logs"), container({"waiting": {}})]}),
        {"phase": "Pending", "running_seconds": None},
    ),
    "ended well while a container beside it goes on": (
        pod(
            {
                "phase": "Running",
                "containerStatuses": [container(RUNNING, "logs"), container({"terminated": {"exitCode": 0}})],
            }
        ),
        {"phase": "Succeeded", "exit_code": 0, "exit_reason": "", "beside": True},
    ),
    "ended while only a restartable init container goes on, which Kubernetes ends": (
        pod(
            {
                "phase": "Running",
                "initContainerStatuses": [container(RUNNING, "proxy")],
                "containerStatuses": [container({"terminated": {"exitCode": 0}})],
            }
        ),
        {"phase": "Succeeded", "beside": False},
    ),
    "running beside another container": (
        pod({"phase": "Running", "containerStatuses": [container(RUNNING, "logs"), container(RUNNING)]}),
        {"phase": "Running", "beside": False},
    ),
    "a launcher that cannot start: the end of its output, in one line": (
        pod(
            {
                "phase": "Failed",
                "containerStatuses": [
                    container({"terminated": {"exitCode": 1, "reason": "Error", "message": "a\n\nloader:\n no file\n"}})
                ],
            }
        ),
        {"phase": "Failed", "exit_code": 1, "exit_reason": "Error", "last_words": "loader: | no file"},
    ),
    "what a container that ended well has printed is nobody's concern": (
        pod({"phase": "Running", "containerStatuses": [container({"terminated": {"exitCode": 0, "message": "bye"}})]}),
        {"phase": "Succeeded", "last_words": ""},
    ),
    "an init container has failed, and says why": (
        pod(
            {
                "phase": "Failed",
                "initContainerStatuses": [
                    container({"terminated": {"exitCode": 1, "reason": "Error", "message": "cp: no space"}}, "fetch")
                ],
            }
        ),
        {"exit_reason": "init container fetch ended with exit code 1 (Error); it said last: cp: no space"},
    ),
    "killed for its memory": (
        pod(
            {
                "phase": "Failed",
                "containerStatuses": [container({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})],
            }
        ),
        {"phase": "Failed", "exit_code": 137, "exit_reason": "OOMKilled"},
    ),
    "evicted before its container has a status": (
        pod({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}),
        {"phase": "Failed", "exit_code": None, "exit_reason": "Evicted: The node was low on resource: memory."},
    ),
    "an init container has failed": (
        pod(
            {
                "phase": "Failed",
                "initContainerStatuses": [container({"terminated": {"exitCode": 1, "reason": "Error"}}, "fetch")],
                "containerStatuses": [container({"waiting": {"reason": "PodInitializing"}})],
            }
        ),
        {"phase": "Failed", "exit_reason": "init container fetch ended with exit code 1 (Error)"},
    ),
    "preempted, and on its way out": (
        pod(
            {"phase": "Running", "conditions": [condition("DisruptionTarget", "True", reason="PreemptionByScheduler")]},
            deletionTimestamp="2026-01-02T03:04:30Z",
        ),
        {"disrupted": True, "terminating": True},
    ),
    "its node has lost it": (pod({"phase": "Unknown"}), {"phase": "Unknown"}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pod_as_a_worker(case: str) -> None:
    given, expected = CASES[case]
    seen = worker_seen(given, "trainer", NodeFacts(), NOW)
    assert {name: getattr(seen, name) for name in expected} == expected
    assert (seen.index, seen.name) == (3, "bert-1-3-abcde")


def test_what_is_known_of_the_node_is_passed_on() -> None:
    seen = worker_seen(pod({"phase": "Running"}), "trainer", NodeFacts(silent=True, gone=True), NOW)
    assert (seen.node_silent, seen.node_gone) == (True, True)


def test_a_pod_without_an_index_stays_visible() -> None:
    assert worker_seen(pod({"phase": "Running"}, labels={}), "trainer", NodeFacts(), NOW).index == -1


def test_a_container_that_started_in_the_future_by_another_clock_has_run_for_no_time() -> None:
    seen = worker_seen(pod({"containerStatuses": [container(RUNNING)]}), "trainer", NodeFacts(), NOW - 3600)
    assert seen.running_seconds == 0.0
