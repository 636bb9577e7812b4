"""Which reports deserve a look soon; the others wait for the regular one."""

from msgspec import Struct

from hedgerow.wire import RankReport, Report
from hedgerow_operator.core.plan import BUSY_INTERVAL_SECONDS, Orders
from hedgerow_operator.core.rank_reports import STOPPED_STATES

# Launchers of a gang report together; one look sees them all.
NEWS_SECONDS = 0.03
# What is unusual and stays so: however many workers say it, one look a second is enough.
UNUSUAL_SECONDS = 1.0


class RankOutline(Struct, frozen=True, gc=False):
    """Of a rank. unusual: by the orders then."""

    state: str
    fresh: bool
    stackless: bool
    unusual: bool


class Outline(Struct, frozen=True, gc=False):
    """Of a report what makes the next one news when it is different. unusual: some rank is, by the orders then."""

    launcher: str
    place: tuple[str, int, bool]
    scan: object
    ranks: list[RankOutline]
    unusual: bool


def outline(report: Report, orders: Orders) -> Outline:
    """The outline of a report as it comes."""
    ranks = [
        RankOutline(rank.state, rank.beats == 0, rank.stack is None, _unusual(rank, orders)) for rank in report.ranks
    ]
    place = (report.stage, report.attempt, report.free_port == 0)
    return Outline(report.launcher, place, _scan(report), ranks, any(entry.unusual for entry in ranks))


def look_within(old: Outline | None, new: Outline, orders: Orders) -> float | None:
    """In how many seconds the job should be looked at for a report; None when it says "going on as before".

    old: of the launcher's report before it.
    """
    if old is None or old != new:
        return NEWS_SECONDS
    if orders.interval_seconds <= BUSY_INTERVAL_SECONDS or new.unusual:
        return UNUSUAL_SECONDS
    return None


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
