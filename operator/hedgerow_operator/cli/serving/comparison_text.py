"""The words and figures of the comparison. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hedgerow_operator.cli.views.story_text import paragraph


class Arm(NamedTuple):
    """One way to ask. seconds: of each request, at the providers' own pace."""

    name: str
    seconds: Sequence[float]
    attempts: int


def introduction(requests: int, providers: int, scale: int) -> str:
    """What is done now."""
    return "\n" + paragraph(
        f"A slow answer is overtaken by another provider's.\n{requests} requests go through a gateway on this machine "
        f"to {providers} simulated GPU providers, whose times have the shape of those measured with a 17 GB model: the "
        f"cheap one is quick, or cold and very slow. They run {scale} times as fast; the figures are as they would be."
    )


def table(arms: Sequence[Arm], slo_seconds: float) -> str:
    """A row for each."""
    rows: list[tuple[str, ...]] = [("", "p50", "p95", "slowest", f"over {slo_seconds:g} s", "attempts")]
    for arm in arms:
        late = sum(one > slo_seconds for one in arm.seconds)
        figures = [f"{value:.1f} s" for value in (quantile(arm.seconds, 0.5), quantile(arm.seconds, 0.95))]
        rows.append(
            (arm.name, *figures, f"{max(arm.seconds):.1f} s", f"{late} of {len(arm.seconds)}", str(arm.attempts))
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n" + "\n".join(_line(row, widths) for row in rows) + "\n"


def quantile(values: Sequence[float], share: float) -> float:
    """The value at rank round(share · (n - 1))."""
    return sorted(values)[round(share * (len(values) - 1))]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *figures = row
    cells = [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(figures, widths[1:], strict=True))]
    return "  " + "   ".join(cells)
