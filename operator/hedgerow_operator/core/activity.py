"""Whether a rank is computing: the second evidence, independent of progress."""

from enum import StrEnum

from hedgerow.wire import Activity, RankReport
from hedgerow_operator.core import phrases
from hedgerow_operator.core.rank_reports import STOPPED_STATES

# Several samples of the launcher (two a second), and at least this share of the deadline.
ENOUGH_SECONDS = 2.0
ENOUGH_SHARE = 0.5
# A rank that progressed later than this is not called idle, however little CPU its steps take.
LEAST_TOLD_SECONDS = 1.0

# Waits for a disk or a file system, where no bytes move until it answers (fsync at the end of a save, say).
STORAGE_STATE = "D"


class Computing(StrEnum):
    """STOPPED: by a signal or a debugger. FROZEN: shows no work. ACTIVE: works. UNKNOWN: cannot be told."""

    STOPPED = "Stopped"
    FROZEN = "Frozen"
    ACTIVE = "Active"
    UNKNOWN = "Unknown"


def computing(activity: Activity, progress_age: float | None, deadline: float) -> Computing:
    """What the kernel and the stacks say of a rank whose phase has this deadline (seconds).

    A busy CPU alone proves nothing (NCCL waits busily), unless the stack moves. Bytes moving mean work.
    """
    if activity.process_state in STOPPED_STATES:
        return Computing.STOPPED
    if activity.io_idle_seconds is not None and activity.io_idle_seconds < ENOUGH_SECONDS:
        return Computing.ACTIVE
    unchanged = activity.stack_unchanged_seconds
    if unchanged is not None and unchanged >= ENOUGH_SECONDS:
        return Computing.FROZEN
    enough = max(ENOUGH_SECONDS, ENOUGH_SHARE * min(deadline, progress_age or 0.0))
    if activity.idle_seconds is not None and activity.idle_seconds >= enough:
        return Computing.FROZEN
    return Computing.UNKNOWN if unchanged is None else Computing.ACTIVE


def surely_idle(report: RankReport) -> bool:
    """Whether the rank's whole process tree has shown neither CPU time nor bytes for most of the time without progress:
    measured, not assumed. One that waits for its storage may be saving.
    """
    if report.activity.process_state in STOPPED_STATES:
        return True
    if report.activity.process_state == STORAGE_STATE:
        return False
    return idle_for(report, max(ENOUGH_SECONDS, ENOUGH_SHARE * (report.progress_age or 0.0)))


def idle_for(report: RankReport, seconds: float) -> bool:
    """Whether the process tree was seen to use no CPU and to move no bytes for this long."""
    activity = report.activity
    return bool(_at_least(activity.idle_seconds, seconds) and _at_least(activity.io_idle_seconds, seconds))


def describe(report: RankReport) -> str:
    """What was seen of the rank, as the end of a sentence that begins with its name."""
    activity = report.activity
    if activity.process_state in STOPPED_STATES:
        return f"is stopped by a signal or debugger (process state {activity.process_state})"
    seen = [text for text in (_cpu(report), _waits(activity), _stack(activity)) if text]
    return ", ".join(seen) if seen else "gives no measurement"


def _cpu(report: RankReport) -> str:
    """Idle is a small share of a CPU, not none at all: a rank that progressed meanwhile was at work until then."""
    idle, age = report.activity.idle_seconds, report.progress_age
    if idle is None:
        return ""
    still = idle if age is None else min(idle, age)
    if idle < ENOUGH_SECONDS or still < LEAST_TOLD_SECONDS:
        return _busy(report.activity)
    return f"has used hardly any CPU for {phrases.seconds(still)}"


def _busy(activity: Activity) -> str:
    share = activity.cpu_share
    if share is None:
        return "uses CPU"
    if share < 0.9:
        wants = " and wants more (state R)" if activity.process_state == "R" else ""
        return f"uses {round(100 * share)} % of a CPU{wants}"
    return "uses a full CPU" if share < 1.5 else f"uses {share:.1f} CPUs"


def _waits(activity: Activity) -> str:
    if not activity.wait_channel:
        return ""
    state = f" (state {activity.process_state})" if activity.process_state else ""
    return f"waits in {activity.wait_channel}{state}"


def _stack(activity: Activity) -> str:
    unchanged = activity.stack_unchanged_seconds
    return f"its stack has not changed for {phrases.seconds(unchanged)}" if unchanged else ""


def _at_least(value: float | None, bound: float) -> bool | None:
    return None if value is None else value >= bound
