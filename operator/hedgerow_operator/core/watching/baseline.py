"""The pace of a job, as it is kept in an annotation beyond the operator that learned it."""

import msgspec

from hedgerow_operator.core.watching.signs import Baseline


def decode_baseline(text: str | None) -> Baseline:
    """What the annotation holds; nothing when it is missing or unreadable (learning starts again)."""
    if not text:
        return Baseline()
    try:
        found = msgspec.json.decode(text, type=Baseline)
    except msgspec.MsgspecError:
        return Baseline()
    return found if min((*found.steps, *found.communication), default=1.0) > 0.0 else Baseline()


def encode_baseline(baseline: Baseline) -> str:
    """The text of the annotation."""
    return msgspec.json.encode(baseline).decode()


def worth_keeping(stored: Baseline, current: Baseline) -> bool:
    """Whether the annotation should be written: other work, or half as much again was learned."""
    if not current.steps:
        return False
    if stored.load != current.load or not stored.steps:
        return True
    return len(current.steps) >= 1.5 * len(stored.steps) or (
        len(current.communication) >= 1.5 * len(stored.communication) and bool(current.communication)
    )
