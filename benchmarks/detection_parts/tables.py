"""Outcomes in figures, and the figures in tables: ours beside those of the rules that others use."""

import statistics
from collections.abc import Callable, Iterable, Sequence

from detection_parts.kind import Wanted
from detection_parts.run import Outcome

Row = tuple[str, ...]
# A rank that exits is seen by all rules, so these tell the rules apart by what hangs.
HANGS = (Wanted.RESTART, Wanted.STOP)


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that so great a share of all does not exceed; 0.0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def table(headings: Row, rows: Iterable[Row]) -> str:
    """Columns wide enough for their longest entry, figures to the right."""
    lines = [headings, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    )


def by_kind(outcomes: Sequence[Outcome]) -> str:
    """A line for each kind."""
    kinds = list(dict.fromkeys(outcome.kind.name for outcome in outcomes))
    groups = [[outcome for outcome in outcomes if outcome.kind.name == kind] for kind in kinds]
    headings = ("KIND", "WANTED", "JOBS", "SHOWN s", "TOLD s", "ACTED s", "MISSED", "ALERTS", "CULPRIT",
                "FALSE ALERTS", "FALSE RESTARTS")
    return table(headings, [_kind_row(kind, group) for kind, group in zip(kinds, groups, strict=True)])


def _kind_row(kind: str, group: Sequence[Outcome]) -> Row:
    wanted = group[0].kind.wanted
    calm = wanted is Wanted.CALM
    right = sum(outcome.right_culprit for outcome in group)
    return (
        kind, wanted, str(len(group)), _median(group, lambda one: one.seen), _median(group, lambda one: one.detected),
        _median(group, lambda one: one.acted), "" if calm else str(sum(missed(outcome) for outcome in group)),
        "" if calm else str(max(outcome.alerts for outcome in group)), "" if calm else f"{right}/{len(group)}",
        str(sum(outcome.false_alerts for outcome in group)), str(sum(outcome.false_restarts for outcome in group)),
    )


def _median(group: Sequence[Outcome], value: Callable[[Outcome], float | None]) -> str:
    known = [seconds for outcome in group if (seconds := value(outcome)) is not None]
    return f"{statistics.median(known):.1f}" if known else "-"


def missed(outcome: Outcome) -> bool:
    """Whether what was wanted was not done: a restart or a stop, or a word to a person."""
    if outcome.kind.wanted in HANGS:
        return outcome.acted is None
    return outcome.kind.wanted is Wanted.TELL and outcome.detected is None


def side_by_side(outcomes: Sequence[Outcome]) -> str:
    """Hangs and exits as we find them, beside the others' rules. Latency: from the last progress to being told."""
    faults = [outcome for outcome in outcomes if outcome.kind.wanted in HANGS]
    ours = [outcome.detected for outcome in faults if outcome.detected is not None]
    acted = [outcome.acted for outcome in faults if outcome.acted is not None]
    right = sum(outcome.right_culprit for outcome in faults)
    rows = [
        _row("hedgerow, told", ours, len(faults), outcomes, f"{100 * right / max(1, len(faults)):.0f} %"),
        _row("hedgerow, restarted", acted, len(faults), outcomes, f"{100 * right / max(1, len(faults)):.0f} %"),
    ]
    for name in faults[0].others_false if faults else ():
        found = [outcome.others_found[name] for outcome in faults if name in outcome.others_found]
        false = sum(outcome.others_false[name] > 0 for outcome in outcomes)
        rows.append(_line(name, found, len(faults), str(false), "names nobody"))
    headings = ("RULE", "MEDIAN s", "P95 s", "MISSED", "JOBS RESTARTED NEEDLESSLY", "RIGHT CULPRIT")
    return table(headings, rows)


def _row(name: str, found: Sequence[float], faults: int, outcomes: Sequence[Outcome], culprits: str) -> Row:
    return _line(name, found, faults, str(sum(outcome.false_restarts > 0 for outcome in outcomes)), culprits)


def _line(name: str, found: Sequence[float], faults: int, false: str, culprits: str) -> Row:
    median = statistics.median(found) if found else 0.0
    return name, f"{median:.1f}", f"{quantile(found, 0.95):.1f}", str(faults - len(found)), false, culprits


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """What the aims are held against."""
    faults = [outcome for outcome in outcomes if outcome.kind.wanted in HANGS]
    slow = [outcome for outcome in outcomes if outcome.kind.wanted is Wanted.TELL]
    shares = [outcome.detected / outcome.limit for outcome in faults if outcome.detected is not None]
    apart = [outcome.detected / outcome.limit for outcome in faults
             if outcome.detected is not None and outcome.somebody_differs]
    told = [outcome.detected for outcome in faults if outcome.detected is not None]
    shown = [outcome.seen for outcome in faults if outcome.seen is not None]
    return {
        "faults": len(faults),
        "healthy_jobs": sum(outcome.kind.wanted is Wanted.CALM for outcome in outcomes),
        "missed": sum(missed(outcome) for outcome in faults),
        "false_restarts": sum(outcome.false_restarts for outcome in outcomes),
        "false_alerts": sum(outcome.false_alerts for outcome in outcomes),
        "most_alerts_an_incident": max((outcome.alerts for outcome in (*faults, *slow)), default=0),
        "median_seconds_to_told": round(statistics.median(told), 1) if told else 0.0,
        "p95_seconds_to_told": round(quantile(told, 0.95), 1),
        "p95_seconds_to_shown": round(quantile(shown, 0.95), 1),
        "p95_of_limit": round(quantile(shares, 0.95), 2),
        "p95_of_limit_where_somebody_differs": round(quantile(apart, 0.95), 2),
        "within_limit_percent_where_somebody_differs": round(
            100 * sum(share <= 1.0 for share in apart) / max(1, len(apart)), 1
        ),
        "told_within_limit_percent": round(100 * sum(share <= 1.0 for share in shares) / max(1, len(faults)), 1),
        "right_culprit_percent": round(100 * sum(outcome.right_culprit for outcome in faults) / max(1, len(faults)), 1),
        "slow_downs_and_numbers": len(slow),
        "slow_downs_and_numbers_told": sum(not missed(outcome) for outcome in slow),
        "decisions": sum(outcome.decisions for outcome in outcomes),
    }
