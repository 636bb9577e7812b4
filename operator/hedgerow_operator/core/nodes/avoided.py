"""Which nodes a placement may not use, as a part of a sentence for people who wonder why it finds no room."""

from collections.abc import Iterable, Mapping, Sequence

from hedgerow_operator.api.status import ExcludedNode

_MOST_NAMED = 4


def words(avoided: Sequence[str], excluded: Iterable[ExcludedNode], others: Mapping[str, str]) -> str:
    """avoided: nodes that the placement was made to avoid. excluded: those of the job's status. others: nodes that
    every job avoids, and why in a word. Empty: it avoids none."""
    own = {entry.name: f"{entry.reason}, until {entry.until}" for entry in excluded}
    named = [_with_reason(name, own.get(name) or others.get(name)) for name in avoided[:_MOST_NAMED]]
    if not named:
        return ""
    if len(avoided) > _MOST_NAMED:
        return f"the job may not use {', '.join(named)} and {len(avoided) - _MOST_NAMED} more nodes"
    return f"the job may not use {' and '.join(filter(None, (', '.join(named[:-1]), named[-1])))}"


def _with_reason(name: str, why: str | None) -> str:
    return f"{name} ({why})" if why else name
