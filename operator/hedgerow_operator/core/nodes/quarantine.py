"""Whether new attempts avoid a node: from a fatal finding until some time after it is gone."""

import msgspec

from hedgerow.wire_agent import AgentReport, Finding
from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.api.times import format_time, parse_time
from hedgerow_operator.core.nodes.findings import fatal, sentence, worst
from hedgerow_operator.core.nodes.seen import NodeRules


def heard(known: Quarantine | None, report: AgentReport, rules: NodeRules, now: float) -> Quarantine | None:
    """The quarantine after a report: opened, kept, cleared or ended by it."""
    causes = fatal(report)
    first = worst(causes)
    if first is not None:
        return _caused(known, causes, first, now)
    if known is None:
        return None
    if known.cleared_at is None:
        return msgspec.structs.replace(known, cleared_at=format_time(now))
    return known if now - parse_time(known.cleared_at) < rules.quarantine_seconds else None


def unheard(known: Quarantine | None, silent_since: float, rules: NodeRules, now: float) -> Quarantine | None:
    """The quarantine of a node that says nothing: nothing clears it, and it does not last for ever."""
    return known if known is None or now - silent_since < rules.expiry_seconds else None


def seconds_left(known: Quarantine | None, rules: NodeRules, now: float) -> float | None:
    """How long it will last yet if nothing more is found; None: that is not known."""
    if known is None or known.cleared_at is None:
        return None
    return max(0.0, parse_time(known.cleared_at) + rules.quarantine_seconds - now)


def _caused(known: Quarantine | None, causes: tuple[Finding, ...], first: Finding, now: float) -> Quarantine:
    gpus = tuple(sorted({entry.gpu for entry in causes if entry.gpu is not None}))
    alike = known is not None and (known.reason, known.gpus) == (first.reason, gpus)
    return Quarantine(
        reason=first.reason,
        # Numbers in a sentence change; that is no news.
        message=known.message if known and alike else sentence(causes),
        gpus=gpus,
        since=known.since if known else format_time(now),
    )
