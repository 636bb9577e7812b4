"""Which reports deserve a look soon; the others wait for the regular one."""

from hedgerow.wire import RankReport, Report
from hedgerow_operator.core.plan import BUSY_INTERVAL_SECONDS, Orders
from hedgerow_operator.core.rank_reports import STOPPED_STATES

# Launchers of a gang report together; one look sees them all.
NEWS_SECONDS = 0.03
# What is unusual and stays so: however many workers say it, one look a second is enough.
UNUSUAL_SECONDS = 1.0


def look_within(old: Report | None, new: Report, orders: Orders) -> float | None:
    """In how many seconds the job should be looked at for this report; None when it says "going on as before".

    old: the launcher's report before it.
    """
    if old is None or old.launcher != new.launcher or _is_news(old, new, orders):
        return NEWS_SECONDS
    if orders.interval_seconds <= BUSY_INTERVAL_SECONDS or any(_unusual(rank, orders) for rank in new.ranks):
        return UNUSUAL_SECONDS
    return None


def _is_news(old: Report, new: Report, orders: Orders) -> bool:
    if (old.stage, old.attempt, old.free_port == 0) != (new.stage, new.attempt, new.free_port == 0):
        return True
    if _scan(old) != _scan(new) or len(old.ranks) != len(new.ranks):
        return True
    pairs = zip(old.ranks, new.ranks, strict=True)
    return any(_rank(before, orders) != _rank(after, orders) for before, after in pairs)


def _rank(report: RankReport, orders: Orders) -> object:
    return report.state, report.beats == 0, report.stack is None, _unusual(report, orders)


def _unusual(report: RankReport, orders: Orders) -> bool:
    limit = orders.deadlines.get(report.phase)
    # A rank without a source may never have one: another prints for it.
    told = report.source is not None and report.progress_age is not None
    overdue = limit is not None and told and (report.progress_age or 0.0) > limit
    return overdue or report.activity.process_state in STOPPED_STATES


def _scan(report: Report) -> object:
    scan = report.checkpoints
    if scan is None:
        return None
    newest = scan.candidates[0] if scan.candidates else None
    return scan.error, scan.quiet, scan.attempt, newest and (newest.path, newest.validity)
