"""What a Slurm job's state means for the TrainingJob that it carries."""

import fnmatch
import re

from msgspec import Struct

from hedgerow_operator.api import reasons
from hedgerow_operator.core.slurm.comments import read_comment
from hedgerow_operator.core.slurm.seen import SlurmJob
from hedgerow_operator.core.slurm.state_table import GONE, STRANGE, TABLE, Kind, Row

# Ends take up to UnkillableStepTimeout (60 s by default), and as long again where the controller was away meanwhile.
STUCK_SECONDS = 300.0
# Accounting may lag some seconds behind the controller, and may be restarting.
FORGOTTEN_SECONDS = 120.0
# The controller looks every 30 s for signals that are due until its next look (PERIODIC_TIMEOUT of slurmctld).
SIGNAL_EARLY_SECONDS = 35.0
# Of a short time limit: what ends in this first part of it was not ended by the limit.
_FIRST_PART = 0.25
_NO_REASON = ("", "none")


class Meaning(Struct, frozen=True, kw_only=True):
    """Where the job stands, and what its end was.

    well: it ended by itself with exit code 0. cause: reason of ``api.reasons`` for an end, told while it is ending
    already where the state tells it, and for a hold; "" for an ordinary failure of the script. message: one sentence
    for people, without its full stop. hopeless: it waits for what never comes by itself. stuck: its end takes far too
    long. paused: somebody else stopped it, so that its standstill says nothing of it.
    """

    kind: Kind
    message: str
    cause: str = ""
    well: bool = False
    hopeless: bool = False
    stuck: bool = False
    paused: bool = False


def means(job: SlurmJob, now: float, lead: float = 0.0) -> Meaning:
    """What the job's state means at ``now`` (epoch seconds).

    lead: seconds before its time limit at which its ranks were told to end; what ends by itself from then on, and
    however, was ended by the limit.
    """
    row = _row(job) or STRANGE
    if row is STRANGE:
        return Meaning(kind=row.kind, message=f"{_said(job, row)}: {'+'.join([job.state, *sorted(job.flags)])}")
    if lead and row.kind is Kind.ENDED and not row.cause and _was_told_of_limit(job, lead):
        return Meaning(kind=Kind.ENDED, cause=reasons.TIME_LIMIT_REACHED,
                       message=f"Slurm job {job.id} ended when its time limit came near")  # fmt: skip
    stuck = row.kind is Kind.ENDING and job.ended_at is not None and now - job.ended_at > STUCK_SECONDS
    message = _stuck(job, now) if stuck else _said(job, row)
    return Meaning(
        kind=row.kind,
        message=message,
        cause=_cause(job, row),
        well=row.well and job.exit_status in (0, None),
        hopeless=row.hopeless,
        stuck=stuck,
        paused=row.paused,
    )


def vanished(last: SlurmJob, missing_seconds: float, now: float) -> Meaning:
    """What it means that neither the controller nor accounting knows a job any more that was last seen so.

    missing_seconds: since it was first missed by a controller that answered.
    """
    if missing_seconds < FORGOTTEN_SECONDS:
        return Meaning(kind=Kind.UNKNOWN, message=f"Slurm job {last.id} {GONE.says}; asking again")
    known = _row(last)
    if known is not None and known.kind is Kind.ENDED:
        return means(last, now)
    limit = last.time_limit_seconds
    if last.started_at is not None and limit is not None and now >= last.started_at + limit:
        return Meaning(kind=Kind.ENDED, cause=reasons.TIME_LIMIT_REACHED,
                       message=f"Slurm job {last.id} {GONE.says}, and its time limit is over")  # fmt: skip
    return Meaning(kind=Kind.ENDED, cause=reasons.WORKER_LOST,
                   message=f"Slurm job {last.id} {GONE.says}, and nobody knows how it ended")  # fmt: skip


def is_same(known: SlurmJob, seen: SlurmJob) -> bool:
    """Whether both are the same job: a controller that lost its state gives a number again.

    A requeue changes the time of submission, and what the comment says of the run, never what it began as.
    """
    return (known.id, known.name, _began_as(known)) == (seen.id, seen.name, _began_as(seen))


def _began_as(job: SlurmJob) -> object:
    return read_comment(job.comment) or job.comment


def _was_told_of_limit(job: SlurmJob, lead: float) -> bool:
    if job.started_at is None or job.ended_at is None or job.time_limit_seconds is None:
        return False
    limit = job.time_limit_seconds
    earliest = max(limit - lead - SIGNAL_EARLY_SECONDS, limit * _FIRST_PART)
    return job.ended_at >= job.started_at + earliest


def _row(job: SlurmJob) -> Row | None:
    rows = [row for row in TABLE if _fits(row, job)]
    return next((row for row in rows if not row.modifier), rows[0] if rows else None)


def _fits(row: Row, job: SlurmJob) -> bool:
    if not any(name == job.state or name in job.flags for name in row.names):
        return False
    reason = _plain(re.split("[,:(]", job.reason, maxsplit=1)[0])
    return not row.reasons or any(fnmatch.fnmatchcase(reason, _plain(pattern)) for pattern in row.reasons)


def _plain(reason: str) -> str:
    """Its letters: a word where one tool shows it with blanks and another with underscores."""
    return re.sub("[^a-z*]", "", reason.lower())


def _cause(job: SlurmJob, row: Row) -> str:
    if row.kind is not Kind.ENDING:
        return row.cause
    ended = next((other for other in TABLE if other.kind is Kind.ENDED and _fits(other, job)), None)
    if ended is not None:
        return ended.cause
    return reasons.REQUEUED if any(flag.startswith("REQUEUE") for flag in job.flags) else ""


def _said(job: SlurmJob, row: Row) -> str:
    reason = "" if job.reason.lower() in _NO_REASON else f" ({job.reason})"
    again = f", its run {job.restarts + 1}" if job.restarts and row.kind in (Kind.WAITING, Kind.ALIVE) else ""
    return f"Slurm job {job.id} {row.says.format(id=job.id)}{again}{reason}"


def _stuck(job: SlurmJob, now: float) -> str:
    since = int(now - (job.ended_at or now))
    nodes = f" on {', '.join(job.nodes[:8])}" if job.nodes else ""
    return f"Slurm job {job.id} has been ending for {since} s: processes of it{nodes} cannot be ended"
