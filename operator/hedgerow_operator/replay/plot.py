"""Draws step times with the incidents marked, as PNG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from hedgerow_operator.api.times import moment_of
from hedgerow_operator.replay.story import FAILURE, SLOWDOWN, STALL, Story
from hedgerow_operator.replay.workers import Sample, WorkerIncident

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinguishable also by people who do not see red and green apart (Okabe and Ito, 2008).
_COLOURS = {STALL: "#D55E00", SLOWDOWN: "#E69F00", FAILURE: "#CC79A7"}
_STEP_COLOUR = "#0072B2"
_ALARM_COLOUR = "#56B4E9"
_INCHES = (12.0, 4.5)
_DOTS_PER_INCH = 110
# Incidents of a second would be too thin to see: they get at least this share of the width.
_LEAST_SHARE = 0.004
# From this ratio of the longest step to the usual one on, the axis is logarithmic.
_WIDE = 20.0


class NoPlotError(Exception):
    """Nothing can be drawn; `str()` is a sentence."""


def draw_story(story: Story) -> bytes:
    """The PNG of a training log. Raises NoPlotError without matplotlib."""
    figure, axes = canvas()
    times = [_at(pace.ended, story) for pace in story.paces]
    axes.plot(times, [pace.seconds for pace in story.paces], ".", markersize=3, color=_STEP_COLOUR, label="step")
    ends = [entry.closed or entry.opened for entry in story.incidents] + [pace.ended for pace in story.paces]
    last = max(ends, default=0.0)
    least = _LEAST_SHARE * (last - min((pace.ended for pace in story.paces), default=last))
    for incident in story.incidents:
        begin = incident.opened if incident.last_progress is None else incident.last_progress
        end = max(last if incident.closed is None else incident.closed, begin + least)
        axes.axvspan(_at(begin, story), _at(end, story), alpha=0.35, color=_COLOURS[incident.kind],
                     label=f"{incident.kind} ({incident.action})")
    for alarm in story.alarms:
        axes.axvline(_at(alarm.opened, story), color=_ALARM_COLOUR, linewidth=1, label=f"alarm {alarm.name}")
    _finish(axes, [pace.seconds for pace in story.paces], "seconds a step")
    if story.absolute:
        _short_dates(axes)
    axes.set_xlabel("time (UTC)" if story.absolute else "minutes since the first line")
    axes.set_title(f"{story.outcome} ({story.reason}), {story.steps} steps, incidents: {len(story.incidents)}")
    return png(figure)


def draw_workers(samples: Sequence[Sample], incidents: Sequence[WorkerIncident]) -> bytes:
    """The PNG of a table of step times, a line for each worker. Raises NoPlotError without matplotlib."""
    figure, axes = canvas()
    named = {worker for incident in incidents for worker in incident.workers}
    for worker in sorted({sample.worker for sample in samples}):
        mine = [sample for sample in samples if sample.worker == worker]
        axes.plot([sample.number for sample in mine], [sample.seconds for sample in mine], linewidth=0.8,
                  color=None if worker in named else "#BBBBBB", label=f"worker {worker}" if worker in named else None)
    last = max((sample.number for sample in samples), default=0)
    for incident in incidents:
        axes.axvspan(incident.opened, last if incident.closed is None else incident.closed, alpha=0.2,
                     color=_COLOURS[SLOWDOWN], label=f"slow: {', '.join(incident.workers)}")
    _finish(axes, [sample.seconds for sample in samples], "time of a step")
    axes.set_xlabel("sample")
    return png(figure)


def canvas() -> tuple[Figure, Axes]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise NoPlotError("--plot needs matplotlib: pip install 'hedgerow[plot]'") from None
    figure = Figure(figsize=_INCHES, dpi=_DOTS_PER_INCH, layout="constrained")
    return figure, figure.add_subplot()


def _at(seconds: float, story: Story) -> Any:
    return moment_of(seconds) if story.absolute else seconds / 60.0


def _short_dates(axes: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator: Any = AutoDateLocator(tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))  # type: ignore[no-untyped-call]


def _finish(axes: Axes, lengths: Sequence[float], label: str) -> None:
    """Axes and a legend with each label once."""
    positive = sorted(length for length in lengths if length > 0)
    if positive and positive[-1] > _WIDE * positive[len(positive) // 2]:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    if once:
        axes.legend(once.values(), once.keys(), loc="upper left", fontsize="small")


def png(figure: Figure) -> bytes:
    written = io.BytesIO()
    figure.savefig(written, format="png")
    return written.getvalue()
