"""Which checkpoint the next attempt starts from: the newest one that every launcher has whole."""

from collections.abc import Sequence

from msgspec import Struct

from hedgerow.wire import CHECKPOINT_COMPLETE, CHECKPOINT_INVALID, Checkpoint, CheckpointScan
from hedgerow_operator.api.status import BadCheckpoint

# Attempts that failed from a checkpoint, without one step beyond it, before it counts as bad.
BAD_AFTER_FAILURES = 2


class Choice(Struct, frozen=True, kw_only=True):
    """chosen: None means from the start. skipped: newer ones with the reason each was passed over."""

    chosen: Checkpoint | None = None
    skipped: tuple[str, ...] = ()


def choose(scans: Sequence[CheckpointScan], bad: Sequence[BadCheckpoint] = ()) -> Choice:
    """The newest step that is Complete in every scan and not known to be bad.

    With a shared directory every launcher sees the same; with node-local ones a step counts only if all have it.
    NotVerified ones are never chosen: what cannot be checked is left to the script that knows it.
    """
    if not scans:
        return Choice()
    failures = {entry.path: entry.failures for entry in bad}
    skipped: list[str] = []
    for candidate in sorted(_newest_by_step(scans[0]).values(), key=lambda entry: entry.step, reverse=True):
        why = _objection(candidate, scans, failures)
        if why is None:
            return Choice(chosen=candidate, skipped=tuple(skipped))
        skipped.append(f"{candidate.path}: {why}")
    return Choice(skipped=tuple(skipped))


def after_failure(bad: Sequence[BadCheckpoint], path: str | None) -> tuple[BadCheckpoint, ...]:
    """``bad`` with one more failure of ``path``."""
    if path is None:
        return tuple(bad)
    failures = next((entry.failures for entry in bad if entry.path == path), 0) + 1
    return (*(entry for entry in bad if entry.path != path), BadCheckpoint(path=path, failures=failures))


def _objection(candidate: Checkpoint, scans: Sequence[CheckpointScan], failures: dict[str, int]) -> str | None:
    if failures.get(candidate.path, 0) >= BAD_AFTER_FAILURES:
        return f"{failures[candidate.path]} attempts failed from it"
    for worker, scan in enumerate(scans):
        here = _newest_by_step(scan).get(candidate.step)
        if here is None:
            return f"launcher {worker} of {len(scans)} does not have it"
        if here.validity == CHECKPOINT_INVALID:
            return here.reason or "invalid"
        if here.validity != CHECKPOINT_COMPLETE:
            return f"not verified ({here.reason or 'unknown layout'})"
    return None


def _newest_by_step(scan: CheckpointScan) -> dict[int, Checkpoint]:
    """One candidate a step: a complete one before any other of the same step."""
    by_step: dict[int, Checkpoint] = {}
    for candidate in scan.candidates:
        known = by_step.get(candidate.step)
        if known is None or (known.validity != CHECKPOINT_COMPLETE and candidate.validity == CHECKPOINT_COMPLETE):
            by_step[candidate.step] = candidate
    return by_step
