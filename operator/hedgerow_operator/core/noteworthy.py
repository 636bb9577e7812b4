"""Which reports deserve a look at once; the others wait for the regular one."""

from hedgerow.wire import RankReport, Report
from hedgerow_operator.core.activity import STOPPED_STATES
from hedgerow_operator.core.plan import CALM_INTERVAL_SECONDS, Orders


def noteworthy(old: Report | None, new: Report, orders: Orders) -> bool:
    """Whether this report says more than "going on as before". old: the launcher's report before it."""
    if old is None or old.launcher != new.launcher or orders.interval_seconds < CALM_INTERVAL_SECONDS:
        return True
    if (old.stage, old.attempt, old.free_port == 0) != (new.stage, new.attempt, new.free_port == 0):
        return True
    if _scan(old) != _scan(new) or len(old.ranks) != len(new.ranks):
        return True
    return any(_rank_noteworthy(before, after, orders) for before, after in zip(old.ranks, new.ranks, strict=True))


def _rank_noteworthy(old: RankReport, new: RankReport, orders: Orders) -> bool:
    limit = orders.deadlines.get(new.phase)
    overdue = limit is not None and new.progress_age is not None and new.progress_age > limit
    stopped = new.activity.process_state in STOPPED_STATES
    return overdue or stopped or (old.state, old.beats == 0) != (new.state, new.beats == 0)


def _scan(report: Report) -> object:
    scan = report.checkpoints
    if scan is None:
        return None
    newest = scan.candidates[0] if scan.candidates else None
    return scan.error, scan.quiet, scan.attempt, newest and (newest.path, newest.validity)
