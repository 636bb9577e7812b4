"""In place, a new placement, without the suspect node, or giving up; and which nodes are avoided for how long."""

from typing import Any

import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import ExcludedNode, HistoryEntry, TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.ladder import WEAK_EVIDENCE, backoff_seconds, exclude, give_back, jitter, respond, unexpired
from hedgerow_operator.core.trouble import Trouble
from tests.unit.core.builders import make_job

NOW = 1_800_000_000.0


def trouble(**fields: Any) -> Trouble:
    """A rank that exited on node7."""
    return Trouble(**{"reason": reasons.RANK_EXITED, "message": "rank 2 exited", "node": "node7", "in_place": True,
                      **fields})


def before(**fields: Any) -> HistoryEntry:
    return HistoryEntry(**{"attempt": 1, "placement": 1, "reason": reasons.RANK_EXITED, **fields})


FAULT = "ValueError: x"

RUNGS: dict[str, tuple[dict[str, Any], Trouble, str, str]] = {
    "first in place": ({}, trouble(), "RestartInPlace", reasons.RANK_EXITED),
    "in a new placement when the old one cannot carry it": ({}, trouble(in_place=False), "NewPlacement",
                                                            reasons.RANK_EXITED),
    "in a new placement after an attempt without a newer checkpoint": ({"no_progress": 1}, trouble(), "NewPlacement",
                                                                       reasons.RANK_EXITED),
    "not at all when every rank failed alike": ({}, trouble(hopeless=True), "Fail", reasons.APPLICATION_FAULT),
    "not after the same fault twice at the same step": (
        {"step": 7, "history": (before(fault=FAULT, last_step=7),)}, trouble(fault=FAULT), "Fail",
        reasons.APPLICATION_FAULT),
    "again after the same fault at another step": (
        {"step": 8, "history": (before(fault=FAULT, last_step=7),)}, trouble(fault=FAULT), "RestartInPlace",
        reasons.RANK_EXITED),
    "again after another fault at the same step": (
        {"step": 7, "history": (before(fault="KeyError", last_step=7),)}, trouble(fault=FAULT), "RestartInPlace",
        reasons.RANK_EXITED),
    "once more while restarts are left": ({"restarts_counted": 9}, trouble(), "RestartInPlace", reasons.RANK_EXITED),
    "not beyond maxRestarts": ({"restarts_counted": 10}, trouble(), "Fail", reasons.MAX_RESTARTS_EXCEEDED),
    "beyond it, when it does not count": (
        {"restarts_counted": 10}, trouble(counted=False, in_place=False, reason=reasons.PREEMPTED), "NewPlacement",
        reasons.PREEMPTED),
}


@pytest.mark.parametrize("case", RUNGS)
def test_restarted(case: str) -> None:
    status, cause, action, reason = RUNGS[case]
    stopping = respond(make_job().spec, TrainingJobStatus(attempt=3, **status), cause, True, NOW)
    assert (stopping.action, stopping.reason) == (action, reason)


# Restarts that counted, whether an attempt has ended before, whether this one had started; whether it is given up.
NEVER_STARTED: dict[str, tuple[int, bool, bool, bool]] = {
    "a launcher that ended three times before it started a rank": (2, False, False, True),
    "one that ended twice": (1, False, False, False),
    "one whose job has trained before": (2, True, False, False),
    "one that had started its ranks": (2, False, True, False),
}


@pytest.mark.parametrize("case", NEVER_STARTED)
def test_given_up_before_the_restarts_are_used_up(case: str) -> None:
    restarts, trained, started, wanted = NEVER_STARTED[case]
    status = TrainingJobStatus(restarts_counted=restarts, history=(before(),) if trained else ())
    lost = trouble(reason=reasons.WORKER_LOST, message="worker 0 ended: exit code 1", in_place=False)
    stopping = respond(make_job().spec, status, lost, started, NOW)
    assert (stopping.action == "Fail") is wanted
    assert stopping.message.endswith("worker 0 ended: exit code 1")


def test_the_rank_that_failed_alike_twice_is_named() -> None:
    status = TrainingJobStatus(step=7, history=(before(fault=FAULT, last_step=7),))
    stopping = respond(make_job().spec, status, trouble(fault=FAULT, ranks=(2,)), True, NOW)
    assert stopping.message == "rank 2: the same fault twice at step 7: ValueError: x"


def test_ranks_in_trouble_are_killed_and_preempted_ones_get_their_grace() -> None:
    kills = [respond(make_job().spec, TrainingJobStatus(), trouble(counted=counted), True, NOW).kill
             for counted in (True, False)]
    assert kills == [True, False]


def node(name: str, reason: str = reasons.NODE_LOST, left: float = 60.0) -> ExcludedNode:
    return ExcludedNode(name=name, reason=reason, until=format_time(NOW + left))


EXCLUSIONS: dict[str, tuple[dict[str, Any], Trouble, list[str]]] = {
    "a lost node at once": ({}, trouble(exclude=True), ["node7"]),
    "not the node of a rank that exited once": ({}, trouble(), []),
    "the node after two attempts without a newer checkpoint": ({"no_progress": 2}, trouble(), ["node7"]),
    "the node of two troubles in a row, where a third would be the last": (
        {"no_progress": 1, "history": (before(node="node7"),)}, trouble(), ["node7"]),
    "not the node of the second trouble where the first was elsewhere": (
        {"no_progress": 1, "history": (before(node="node1"),)}, trouble(), []),
    "not for a fault of the script": ({"no_progress": 2}, trouble(fault=FAULT), []),
    "not for an eviction": ({"no_progress": 2}, trouble(counted=False), []),
    "no node that is not known": ({}, trouble(exclude=True, node=""), []),
    "each node once": ({"excluded_nodes": (node("node7"),)}, trouble(exclude=True), ["node7"]),
    "no more than the cap": (
        {"excluded_nodes": (node("node1"), node("node2"))}, trouble(exclude=True), ["node1", "node2"]),
    "one more when another has expired": (
        {"excluded_nodes": (node("node1", left=-1.0), node("node2"))}, trouble(exclude=True), ["node2", "node7"]),
}


@pytest.mark.parametrize("case", EXCLUSIONS)
def test_avoided(case: str) -> None:
    status, cause, names = EXCLUSIONS[case]
    kept = exclude(make_job().spec, TrainingJobStatus(**status), cause, NOW)
    assert [entry.name for entry in kept] == names


def test_where_there_are_tries_enough_the_place_is_left_before_the_node_is() -> None:
    spec = make_job(recovery={"noProgressLimit": 4}).spec
    assert not exclude(spec, TrainingJobStatus(no_progress=1, history=(before(node="node7"),)), trouble(), NOW)


def test_an_exclusion_lasts_as_long_as_the_spec_says() -> None:
    spec = make_job(recovery={"exclude": {"ttlSeconds": 3600}}).spec
    added = exclude(spec, TrainingJobStatus(), trouble(exclude=True), NOW)
    assert added[0].until == format_time(NOW + 3600)
    assert (len(unexpired(added, NOW + 3599)), len(unexpired(added, NOW + 3601))) == (1, 0)


def test_the_weakest_evidence_is_given_back_first() -> None:
    nodes = tuple(node(reason, reason) for reason in reversed(WEAK_EVIDENCE))
    given = give_back(nodes)
    assert given is not None
    assert given.reason == WEAK_EVIDENCE[0]
    assert WEAK_EVIDENCE[-1] == reasons.NODE_LOST


def test_evidence_of_another_kind_is_never_given_back() -> None:
    assert give_back((node("node1", "FatalXid"),)) is None
    assert give_back(()) is None


@pytest.mark.parametrize(("no_progress", "seconds"), [(0, 0), (1, 5), (2, 10), (3, 20), (7, 300), (10_000, 300)])
def test_backoff_doubles_up_to_its_most(no_progress: int, seconds: float) -> None:
    assert backoff_seconds(make_job().spec, no_progress) == seconds


def test_jitter_spreads_jobs() -> None:
    values = [jitter(f"job-{number}", 1) for number in range(100)]
    assert all(0 <= value < 1 for value in values)
    assert len(set(values)) > 50
