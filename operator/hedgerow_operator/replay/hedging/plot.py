"""Draws the latency of each round, by who answered it, as PNG."""

import math
from collections.abc import Sequence

from hedgerow_operator.replay.hedging.session import ORDER, Decided
from hedgerow_operator.replay.hedging.shown import MISS_SECONDS, as_object
from hedgerow_operator.replay.plot import canvas, png

# Distinguishable also by people who do not see red and green apart (Okabe and Ito, 2008).
_COLOURS = dict(zip(ORDER, ("#0072B2", "#E69F00", "#009E73"), strict=True))
_NOBODY = "#D55E00"


def draw_rounds(decided: Sequence[Decided], policy: str) -> bytes:
    """The PNG. Raises NoPlotError without matplotlib."""
    figure, axes = canvas()
    tallest = max((one.outcome.latency_seconds for one in decided if one.outcome.winner), default=MISS_SECONDS)
    for name in (*ORDER, ""):
        mine = [one for one in decided if one.outcome.winner == name]
        heights = [min(one.outcome.latency_seconds, tallest * 1.1) for one in mine]
        if mine:
            axes.bar(
                [one.round.number for one in mine], heights, color=_COLOURS.get(name, _NOBODY), label=name or "nobody"
            )
    shown = as_object(decided)
    p95 = shown["p95"] if shown["p95"] is not None else math.inf
    if math.isfinite(p95):
        axes.axhline(p95, color="#555555", linewidth=1, linestyle="--", label=f"p95 {p95:.1f} s")
    axes.set_xlabel("round")
    axes.set_ylabel("seconds until the answer")
    axes.grid(alpha=0.3, axis="y")
    axes.legend()
    axes.set_title(f"{policy}: {shown['misses']} of {shown['rounds']} later than {MISS_SECONDS:.0f} s, "
                   f"${shown['costActive']:.4f} a request")
    return png(figure)
