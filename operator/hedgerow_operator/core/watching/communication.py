"""What a job's ranks say of their communication, in two figures for a graph; nothing is decided by them."""

from collections.abc import Iterable

from msgspec import Struct

from hedgerow.wire import CommunicationReport, Report

# Ranks measure once a minute; what is older is no figure of now, such as that of a job that stands still.
FRESH_SECONDS = 180.0
# All ranks of a collective move alike: of each launcher the first few say enough, and a scrape stays cheap.
MOST_RANKS = 8
_GIGA = 1e9


class Communication(Struct, frozen=True, kw_only=True):
    """Means over the ranks that tell it. share: of their time, in collectives, waiting included, 0 to 1.
    bus_bytes_per_second: NCCL's bus bandwidth while they communicate. None: not measured."""

    share: float | None = None
    bus_bytes_per_second: float | None = None


def communication(reports: Iterable[tuple[Report, float]]) -> Communication:
    """The figures of one job. reports: the newest of each launcher, and how many seconds ago it came."""
    told = [measured for report, age in reports for measured in _fresh(report, age)]
    bus = _mean([one.bus_gigabytes_per_second for one in told])
    return Communication(
        share=_mean([one.share for one in told]), bus_bytes_per_second=None if bus is None else bus * _GIGA
    )


def _fresh(report: Report, age: float) -> list[CommunicationReport]:
    told = [rank.communication for rank in report.ranks[:MOST_RANKS]]
    return [one for one in told if one is not None and one.age + age <= FRESH_SECONDS]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and value >= 0.0]
    return sum(known) / len(known) if known else None
