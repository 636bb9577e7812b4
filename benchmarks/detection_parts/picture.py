"""When people are told of each kind of trouble, as a picture: beside the aim and the rules of others."""

import statistics
import sys
from collections.abc import Sequence
from itertools import groupby

from detection_parts.kind import Wanted
from detection_parts.run import Outcome
from detection_parts.tables import HANGS, quantile

_OURS, _AIM = "#1f5fbf", "#7a7a7a"
_OTHERS = ("#d98200", "#b03060", "#6a8f3c", "#8464a8")
_MARKS = ("^", "v", "s", "D")


def plot(outcomes: Sequence[Outcome], path: str) -> None:
    """A PNG; a sentence on standard error where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("--plot needs matplotlib: pip install 'hedgerow[plot]'", file=sys.stderr)
        return
    groups = _groups(outcomes)
    figure = Figure(figsize=(10.0, 1.6 + 0.32 * len(groups)), layout="constrained")
    axes = figure.subplots()
    for row, (_kind, group) in enumerate(groups):
        told = [one.detected for one in group if one.detected is not None]
        if told:
            axes.plot(
                (statistics.median(told), quantile(told, 0.95)),
                (row, row),
                color=_OURS,
                linewidth=5,
                alpha=0.45,
                solid_capstyle="butt",
                label="Hedgerow tells: median to 95th percentile" if row == 0 else None,
            )
            axes.plot(statistics.median(told), row, "o", color=_OURS)
        axes.plot(
            statistics.median(one.limit for one in group),
            row,
            "|",
            color=_AIM,
            markersize=14,
            markeredgewidth=2,
            label="aim: max(10 s, 4 usual intervals), median" if row == 0 else None,
        )
        for number, name in enumerate(group[0].others_false):
            found = [one.others_found[name] for one in group if name in one.others_found]
            if found:
                axes.plot(
                    statistics.median(found),
                    row,
                    _MARKS[number % 4],
                    color=_OTHERS[number % 4],
                    markersize=5,
                    fillstyle="none",
                    label=f"{name}, median" if row == 0 else None,
                )
    axes.set_yticks(range(len(groups)), [kind for kind, _group in groups], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("seconds from the last progress until a person is told (logarithmic)")
    axes.grid(axis="x", which="both", linewidth=0.3, alpha=0.6)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)


def _groups(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    told = [one for one in outcomes if one.kind.wanted in (*HANGS, Wanted.TELL)]
    return [(kind, list(group)) for kind, group in groupby(told, key=lambda one: one.kind.name)]
