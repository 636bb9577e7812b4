"""Jobs from JSON: both generations, and entries that are not as they should be."""

from typing import Any

import pytest

from hedgerow_operator.core.slurm import values
from hedgerow_operator.core.slurm.job_json import read_job, read_jobs, release
from hedgerow_operator.core.slurm.seen import SlurmJob


def number(value: float, *, told: bool = True, infinite: bool = False) -> dict[str, Any]:
    """A number as later versions write it."""
    return {"set": told, "infinite": infinite, "number": value}


OLD = {
    "job_id": 1,
    "array_job_id": 0,
    "array_task_id": None,
    "het_job_id": 0,
    "job_state": "FAILED",
    "state_reason": "NonZeroExitCode",
    "comment": "hedgerow:abc:1",
    "name": "wrap",
    "user_name": "root",
    "partition": "debug",
    "nodes": "n[1-2]",
    "excluded_nodes": "n4",
    "exit_code": 768,
    "submit_time": 1796076872,
    "eligible_time": 1796076872,
    "start_time": 1796076873,
    "end_time": 1796076874,
    "time_limit": 10,
    "restart_cnt": 2,
    "requeue": True,
}
NEW = {
    **OLD,
    "array_job_id": number(0),
    "array_task_id": number(0, told=False),
    "het_job_id": number(0),
    "job_state": ["FAILED"],
    "exit_code": {"status": ["ERROR"], "return_code": number(3), "signal": {"id": number(0, told=False), "name": ""}},
    "submit_time": number(1796076872),
    "eligible_time": number(1796076872),
    "start_time": number(1796076873),
    "end_time": number(1796076874),
    "time_limit": number(10),
}
READ = SlurmJob(
    id="1",
    state="FAILED",
    reason="NonZeroExitCode",
    comment="hedgerow:abc:1",
    name="wrap",
    user="root",
    partition="debug",
    nodes=("n1", "n2"),
    excluded=("n4",),
    exit_status=768,
    submitted_at=1796076872.0,
    eligible_at=1796076872.0,
    started_at=1796076873.0,
    ended_at=1796076874.0,
    time_limit_seconds=600.0,
    restarts=2,
    requeue=True,
)


@pytest.mark.parametrize("entry", [pytest.param(OLD, id="22.05"), pytest.param(NEW, id="later")])
def test_both_generations_are_read_alike(entry: dict[str, Any]) -> None:
    assert read_jobs({"jobs": [entry], "errors": []}) == (READ,)


CHANGES = {
    "no limit": ({"time_limit": None}, {"time_limit_seconds": None}),
    "no limit, later": ({"time_limit": number(0, infinite=True)}, {"time_limit_seconds": None}),
    "of a running job the end is only foretold": (
        {"job_state": "RUNNING", "exit_code": 0},
        {"state": "RUNNING", "exit_status": None, "ended_at": None},
    ),
    "a waiting job's start is only foretold": (
        {"job_state": ["PENDING"], "exit_code": number(0)},
        {"state": "PENDING", "exit_status": None, "started_at": None, "ended_at": None},
    ),
    "killed by a signal": ({"exit_code": 9}, {"exit_status": 9}),
    "killed by a signal, later": (
        {"exit_code": {"status": ["SIGNALED"], "return_code": number(0), "signal": {"id": number(9), "name": "KILL"}}},
        {"exit_status": 9},
    ),
    "killed by a signal, in between": (
        {"exit_code": {"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 9, "name": "KILL"}}},
        {"exit_status": 9},
    ),
    "a task of an array": ({"array_job_id": 2, "array_task_id": 0}, {"id": "2_0"}),
    "a task of an array, later": ({"array_job_id": number(2), "array_task_id": number(3)}, {"id": "2_3"}),
    "the tasks of an array that still wait": (
        {"array_job_id": 3, "array_task_string": "5-900%4"},
        {"id": "3_[5-900%4]"},
    ),
    "a component of a heterogeneous job": ({"job_id": 5, "het_job_id": 4, "het_job_offset": 1}, {"id": "4+1"}),
    "no reason": ({"state_reason": "None"}, {"reason": ""}),
    "no time yet": ({"eligible_time": 0}, {"eligible_at": None}),
    "hosts as a list": ({"nodes": ["n1", "n2"]}, {}),
    "an unknown state": ({"job_state": "FROBNICATING"}, {"state": "FROBNICATING"}),
    "a state that is no text": ({"job_state": 7}, {"state": "UNKNOWN"}),
    "a list of hosts that is none": ({"nodes": "n[1-"}, {"nodes": ("n[1-",)}),
    "may not be requeued, but was (s17)": ({"requeue": False, "restart_cnt": 1}, {"requeue": False, "restarts": 1}),
    "may be requeued, but was not (s17)": ({"requeue": True, "restart_cnt": 0}, {"requeue": True, "restarts": 0}),
}


@pytest.mark.parametrize(("change", "difference"), CHANGES.values(), ids=CHANGES)
def test_what_differs_in_the_entry_differs_in_the_job(change: dict[str, Any], difference: dict[str, Any]) -> None:
    expected = {name: getattr(READ, name) for name in SlurmJob.__struct_fields__} | difference
    assert read_job(OLD | change) == SlurmJob(**expected)


@pytest.mark.parametrize("field", sorted(set(OLD) - {"job_id"}))
@pytest.mark.parametrize("wrong", [{"a": [1]}, [None, {}], "\N{SNOWMAN}", "9" * 500, -1.5, float("inf"), True, None])
def test_whatever_is_wrong_with_one_value_the_job_is_still_told(field: str, wrong: Any) -> None:
    other = OLD | {"job_id": 2, "array_job_id": 0}
    found = read_jobs({"jobs": [OLD | {field: wrong}, other]})
    assert len(found) == 2
    assert field == "comment" or found[0].comment == "hedgerow:abc:1"
    assert found[1].id == "2"


@pytest.mark.parametrize("entry", [None, 3, "x", [], {}, {"job_id": None}, {"job_id": "x"}])
def test_an_entry_that_is_no_job_does_not_lose_the_others(entry: Any) -> None:
    assert read_jobs({"jobs": [entry, OLD]}) == (READ,)


@pytest.mark.parametrize("document", [None, [], "x", {}, {"jobs": None}, {"jobs": {}}])
def test_a_document_without_jobs_has_none(document: Any) -> None:
    assert read_jobs(document) == ()


COMPLAINTS = {
    "none": ({"errors": [], "jobs": []}, ""),
    "none, said by leaving them out": ({"jobs": []}, ""),
    "one": ({"errors": [{"error_number": -1, "error": "Unspecified error"}]}, "Unspecified error"),
    "described only": ({"errors": [{"description": "no such job"}]}, "no such job"),
    "several": ({"errors": [{"error": "a"}, {"error": "b"}]}, "a; b"),
    "without words": ({"errors": [{}]}, "an error without a name"),
    "no document": ([], "the answer is no JSON object"),
}


@pytest.mark.parametrize(("document", "told"), COMPLAINTS.values(), ids=COMPLAINTS)
def test_what_an_answer_complains_of(document: Any, told: str) -> None:
    assert values.complaints(document) == told


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"meta": {"Slurm": {"release": "22.05.8"}}}, "22.05.8"),
        ({"meta": {"slurm": {"release": "24.05.4"}}}, "24.05.4"),
        ({"meta": {}}, ""),
        ({}, ""),
    ],
)
def test_the_release_that_answered(document: Any, told: str) -> None:
    assert release(document) == told
