"""Jobs from what squeue and sacct print, for a Slurm that was built without JSON, and from accounting."""

from collections.abc import Mapping

from hedgerow_operator.core.slurm import records, times, values
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_words import has_ended, job_state, nothing_as_empty

# Id and comment come first: whatever characters a name has, they are read right. squeue cannot print excluded nodes so.
SQUEUE_FIELDS = (
    "JobArrayID",
    "Comment",
    "State",
    "Reason",
    "UserName",
    "Partition",
    "NodeList",
    "exit_code",
    "SubmitTime",
    "EligibleTime",
    "StartTime",
    "EndTime",
    "TimeLimit",
    "restartcnt",
    "Requeue",
    "Name",
)
SACCT_FIELDS = (
    "JobID",
    "Comment",
    "State",
    "Reason",
    "User",
    "Partition",
    "NodeList",
    "ExitCode",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "Timelimit",
    "JobName",
)
_SACCT_NAMES = {
    "JobID": "JobArrayID",
    "User": "UserName",
    "Submit": "SubmitTime",
    "Eligible": "EligibleTime",
    "Start": "StartTime",
    "End": "EndTime",
    "Timelimit": "TimeLimit",
    "JobName": "Name",
    "ExitCode": "exit_code",
}


def read_squeue(text: str) -> tuple[SlurmJob, ...]:
    """Every job of ``squeue --noheader --Format=records.format_of(SQUEUE_FIELDS)``."""
    rows = records.read(text, SQUEUE_FIELDS, records.FIELD_END, records.RECORD_END)
    return tuple(_job(row) for row in rows if row["JobArrayID"])


def read_sacct(text: str) -> tuple[SlurmJob, ...]:
    """Every job of ``sacct --parsable2 --noheader --delimiter=FIELD_END --format=SACCT_FIELDS``, its steps left out.

    How often Slurm has requeued it is not told.
    """
    rows = records.read(text, SACCT_FIELDS, records.FIELD_END, "\n")
    jobs = [{_SACCT_NAMES.get(name, name): value for name, value in row.items()} for row in rows]
    return tuple(_job(row) for row in jobs if row["JobArrayID"] and "." not in row["JobArrayID"])


def _job(row: Mapping[str, str]) -> SlurmJob:
    state, flags = job_state(row["State"])
    ended = has_ended(state)
    return SlurmJob(
        id=row["JobArrayID"],
        state=state,
        flags=flags,
        reason=nothing_as_empty(row["Reason"]),
        comment=nothing_as_empty(row["Comment"]),
        name=row["Name"],
        user=row["UserName"],
        partition=row["Partition"],
        nodes=values.hosts(row["NodeList"]),
        exit_status=_exit_status(row["exit_code"]) if ended else None,
        submitted_at=times.moment(row["SubmitTime"]),
        eligible_at=times.moment(row["EligibleTime"]),
        started_at=times.moment(row["StartTime"]) if state != "PENDING" else None,
        ended_at=times.moment(row["EndTime"]) if ended else None,
        time_limit_seconds=times.duration_seconds(row["TimeLimit"]),
        restarts=values.whole(row.get("restartcnt")),
        requeue=row.get("Requeue") == "1",
    )


def _exit_status(shown: str) -> int | None:
    """squeue prints the status of wait(2), sacct CODE:SIGNAL."""
    code, colon, signal = shown.partition(":")
    if not colon:
        return values.exit_status(shown)
    return values.whole(code) << 8 | values.whole(signal) if code.isdecimal() and signal.isdecimal() else None
