"""What a reader found out about a file or a checkpoint."""

from __future__ import annotations

from typing import Iterable, NamedTuple

from hedgerow.wire import CHECKPOINT_COMPLETE, CHECKPOINT_INVALID, CHECKPOINT_NOT_VERIFIED


class Finding(NamedTuple):
    """validity of the wire format, and why."""

    validity: str
    reason: str = ""


# A reason may quote names and numbers of a file that means no good.
_LONGEST_REASON = 300

COMPLETE = Finding(CHECKPOINT_COMPLETE)


def invalid(reason: str) -> Finding:
    """Proven unusable."""
    return Finding(CHECKPOINT_INVALID, _readable(reason))


def not_verified(reason: str) -> Finding:
    """Neither proven whole nor proven unusable."""
    return Finding(CHECKPOINT_NOT_VERIFIED, _readable(reason))


def worst(findings: Iterable[Finding]) -> Finding:
    """Of several parts of one checkpoint, what decides about the whole; Complete for none."""
    result = COMPLETE
    for finding in findings:
        if finding.validity == CHECKPOINT_INVALID:
            return finding
        if finding.validity == CHECKPOINT_NOT_VERIFIED and result is COMPLETE:
            result = finding
    return result


def _readable(reason: str) -> str:
    return reason[:_LONGEST_REASON].encode("utf-8", "replace").decode("utf-8")
