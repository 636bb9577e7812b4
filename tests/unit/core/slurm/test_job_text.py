"""Jobs and nodes from what squeue, sacct and sinfo print for programs."""

import pytest

from hedgerow_operator.core.slurm import records
from hedgerow_operator.core.slurm.job_text import SACCT_FIELDS, SQUEUE_FIELDS, read_sacct, read_squeue
from hedgerow_operator.core.slurm.node_text import SINFO_FIELDS, read_sinfo
from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode


def printed(*rows: dict[str, str], fields: tuple[str, ...]) -> str:
    """As squeue and sinfo print it."""
    lines = [records.FIELD_END.join(row.get(name, "") for name in fields) for row in rows]
    return "".join(f"{line}{records.RECORD_END}\n" for line in lines)


ROW = {
    "JobArrayID": "1",
    "Comment": "hedgerow:abc:1",
    "State": "FAILED",
    "Reason": "NonZeroExitCode",
    "UserName": "root",
    "Partition": "debug",
    "NodeList": "node[001-002]",
    "exit_code": "768",
    "SubmitTime": "1796076872",
    "EligibleTime": "1796076872",
    "StartTime": "1796076873",
    "EndTime": "1796076874",
    "TimeLimit": "8-08:00:00",
    "restartcnt": "2",
    "Requeue": "1",
    "Name": "pretrain",
}
READ = SlurmJob(
    id="1",
    state="FAILED",
    reason="NonZeroExitCode",
    comment="hedgerow:abc:1",
    name="pretrain",
    user="root",
    partition="debug",
    nodes=("node001", "node002"),
    exit_status=768,
    submitted_at=1796076872.0,
    eligible_at=1796076872.0,
    started_at=1796076873.0,
    ended_at=1796076874.0,
    time_limit_seconds=720000.0,
    restarts=2,
    requeue=True,
)
CHANGES = {
    "no limit": ({"TimeLimit": "UNLIMITED"}, {"time_limit_seconds": None}),
    "no comment": ({"Comment": "(null)"}, {"comment": ""}),
    "waits": (
        {"State": "PENDING", "NodeList": "", "StartTime": "N/A", "EndTime": "N/A", "exit_code": "0"},
        {"state": "PENDING", "nodes": (), "started_at": None, "ended_at": None, "exit_status": None},
    ),
    "runs, and its end is foretold": (
        {"State": "RUNNING", "exit_code": "0", "EndTime": "1827613037"},
        {"state": "RUNNING", "exit_status": None, "ended_at": None},
    ),
    "a task of an array": ({"JobArrayID": "2_1"}, {"id": "2_1"}),
    "a component": ({"JobArrayID": "4+1"}, {"id": "4+1"}),
    "a name with bars and line ends": ({"Name": "a|b\nc"}, {"name": "a|b\nc"}),
    "an unknown state": ({"State": "FROBNICATING"}, {"state": "FROBNICATING"}),
    "values that are none": (
        {"exit_code": "x", "restartcnt": "", "SubmitTime": "soon", "Requeue": "?"},
        {"exit_status": None, "restarts": 0, "submitted_at": None, "requeue": False},
    ),
}


@pytest.mark.parametrize(("change", "difference"), [({}, {}), *CHANGES.values()], ids=["as it is", *CHANGES])
def test_a_row_of_squeue_is_a_job(change: dict[str, str], difference: dict[str, object]) -> None:
    expected = {name: getattr(READ, name) for name in SlurmJob.__struct_fields__} | difference
    assert read_squeue(printed(ROW | change, fields=SQUEUE_FIELDS)) == (SlurmJob(**expected),)  # type: ignore[arg-type]


def test_a_row_that_is_cut_short_still_tells_whose_it_is_and_does_not_lose_the_others() -> None:
    short = records.FIELD_END.join(["7", "hedgerow:abc:2", "RUNNING"]) + records.RECORD_END
    found = read_squeue(f"{short}\n{printed(ROW, fields=SQUEUE_FIELDS)}")
    assert [(job.id, job.comment, job.state) for job in found] == [
        ("7", "hedgerow:abc:2", "RUNNING"),
        ("1", "hedgerow:abc:1", "FAILED"),
    ]


def test_nothing_printed_is_no_job() -> None:
    assert (read_squeue(""), read_squeue("\n"), read_sacct("\n")) == ((), (), ())


def accounted(**changes: str) -> str:
    """A line of sacct."""
    row = dict(
        zip(
            SACCT_FIELDS,
            ["1", "hedgerow:abc:1", "FAILED", "None", "root", "debug", "node[001-002]", "3:0", "1796076872",
             "1796076872", "1796076873", "1796076874", "8-08:00:00", "pretrain"],
            strict=True,
        )
    )  # fmt: skip
    return records.FIELD_END.join((row | changes).values()) + "\n"


ACCOUNTED = {
    "an exit code": ({}, "FAILED", 768),
    "a signal": ({"ExitCode": "0:9"}, "FAILED", 9),
    "who cancelled it (s09)": ({"State": "CANCELLED by 123", "ExitCode": "0:15"}, "CANCELLED", 15),
    "still running": ({"State": "RUNNING", "ExitCode": "0:0"}, "RUNNING", None),
    "no exit code": ({"ExitCode": ""}, "FAILED", None),
}


@pytest.mark.parametrize(("change", "state", "status"), ACCOUNTED.values(), ids=ACCOUNTED)
def test_a_line_of_sacct_is_a_job(change: dict[str, str], state: str, status: int | None) -> None:
    (job,) = read_sacct(accounted(**change))
    assert (job.id, job.comment, job.name, job.nodes) == ("1", "hedgerow:abc:1", "pretrain", ("node001", "node002"))
    assert (job.state, job.exit_status, job.time_limit_seconds) == (state, status, 720000.0)


def test_the_steps_of_a_job_are_no_jobs() -> None:
    lines = accounted() + accounted(JobID="1.batch") + accounted(JobID="1.0")
    assert [job.id for job in read_sacct(lines)] == ["1"]


def test_a_node_in_two_partitions_is_one_node() -> None:
    row = {
        "NodeList": "n2",
        "StateComplete": "allocated+drain",
        "User": "root",
        "NodeAddr": "10.0.0.2",
        "Gres": "gpu:8",
    }
    text = printed(
        row | {"PartitionName": "debug", "Reason": "bad day"},
        row | {"PartitionName": "long", "Reason": "bad day"},
        {"NodeList": "n3", "StateComplete": "idle*", "User": "Unknown", "Gres": "(null)", "Reason": "none"},
        fields=SINFO_FIELDS,
    )
    assert read_sinfo(text) == (
        SlurmNode(
            name="n2",
            state="ALLOCATED",
            flags=frozenset({"DRAIN"}),
            reason="bad day",
            reason_user="root",
            address="10.0.0.2",
            gres="gpu:8",
            partitions=("debug", "long"),
        ),
        SlurmNode(name="n3", state="IDLE", flags=frozenset({"NOT_RESPONDING"})),
    )
