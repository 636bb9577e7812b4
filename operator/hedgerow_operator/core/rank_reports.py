"""What the ranks of an attempt say, so that it can be compared: of one count of steps, and with the one that speaks."""

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar, cast

from msgspec import Struct, structs

from hedgerow.wire import PHASE_INIT, RankReport

SOURCE_TORCH = "Torch"
SOURCE_LOG = "Log"
STOPPED_STATES = ("T", "t")

Message = TypeVar("Message")


def absolute(report: RankReport, resumed: int) -> RankReport:
    """``report`` with steps of the job: torch's hook counts from 1 in each attempt, which went on from ``resumed``.
    The script's own numbers are the job's already."""
    if report.source != SOURCE_TORCH or report.step is None or not resumed:
        return report
    return changed(report, step=report.step + resumed)


def changed(report: Message, **fields: Any) -> Message:
    """A copy of a message, or of a part of one, in which ``fields`` are others. Those that came over the network are of
    msgspec's kind, those that were made here dataclasses."""
    if isinstance(report, Struct):
        return structs.replace(report, **fields)
    return dataclasses.replace(cast("Any", report), **fields)  # type: ignore[no-any-return]


def tells(report: RankReport) -> bool:
    """Whether the rank tells its own progress."""
    return report.source is not None or report.beats > 0 or report.phase != PHASE_INIT


def speaker(reports: Iterable[RankReport]) -> RankReport | None:
    """The rank whose lines tell the progress of all, None where each tells its own: of several the newest."""
    told = [report for report in reports if report.source == SOURCE_LOG and report.progress_age is not None]
    return min(told, key=lambda report: report.progress_age or 0.0, default=None)


def with_progress_of(report: RankReport, speaks: RankReport) -> RankReport:
    """A rank that has no source of progress with that of the one that prints for all; its activity is its own."""
    return report if tells(report) else progressing_as(report, speaks)


def progressing_as(report: RankReport, speaks: RankReport) -> RankReport:
    """``report`` with the progress of another rank."""
    return changed(
        report,
        beats=speaks.beats,
        step=speaks.step,
        phase=speaks.phase,
        progress_age=speaks.progress_age,
        bursty=speaks.bursty,
    )
