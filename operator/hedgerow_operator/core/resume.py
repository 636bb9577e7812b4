"""The decision at the barrier: did the last attempt bring anything, and which checkpoint does the next start from."""

from collections.abc import Sequence
from typing import Any

from hedgerow.wire import CHECKPOINT_NOT_VERIFIED, CheckpointScan, Report
from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import CheckpointStatus, HistoryEntry
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.checkpoints import BAD_AFTER_FAILURES, Choice, after_failure, choose
from hedgerow_operator.core.gang import Gang
from hedgerow_operator.core.ledger import lose_steps
from hedgerow_operator.core.plan import Event
from hedgerow_operator.core.step import Context, Step

# Ends of attempts that the checkpoint may have caused; a lost node, say, is none of them.
_SPEAK_AGAINST = (reasons.RANK_EXITED, reasons.STARTUP_TIMEOUT, reasons.NO_PROGRESS)

# An event has room for about so many (1 024 characters).
_LINES_TOLD = 4


def ready_scans(context: Context) -> list[CheckpointScan] | None:
    """The quiet checkpoint scan of every worker, or None while the gang is not complete and at rest.

    Empty when the job has no checkpoint directory. A directory that cannot be read holds the start back: a job must
    not begin again from nothing over checkpoints that nobody could look at.
    """
    gang, scans = context.gang, []
    if not at_rest(gang) or gang.strays:
        return None
    for worker in range(gang.workers):
        report = gang.report(worker)
        if report is None or context.job.spec.checkpoint is None:
            continue
        scan = report.checkpoints
        if scan is None or scan.error is not None or not scan.quiet or scan.attempt != report.attempt:
            return None
        scans.append(scan)
    return scans


def at_rest(gang: Gang) -> bool:
    """Whether every launcher is there, has no rank alive, and did not begin the current attempt yet."""
    for worker in range(gang.workers):
        report = gang.report(worker)
        if report is None or not gang.idle(worker) or report.attempt >= gang.attempt or misfit(gang, report):
            return False
    return True


def misfit(gang: Gang, report: Report) -> bool:
    """Whether this launcher was started for a gang of another shape."""
    return (report.workers, report.ranks_per_worker) != (gang.workers, gang.ranks_per_worker)


def judge_progress(context: Context, scans: Sequence[CheckpointScan]) -> Step:
    """Counts the last attempt as progress or not, once, and marks a checkpoint that attempts fail from."""
    status = context.status
    step, last = Step(status=status), _unjudged(context)
    if last is None:
        return step
    step = step.then(progress_judged=last.attempt)
    if not last.counted:
        return step
    if context.job.spec.checkpoint is None:
        # Nothing is ever saved: an attempt that made a step did what it could, one that made none is no progress.
        return step.then(no_progress=status.no_progress + 1 if last.last_step is None else 0)
    step = _mark_bad(_forgive(step, last, scans), last)
    newest = choose(scans, step.status.bad_checkpoints).chosen
    if newest is not None and newest.step > _number(last.from_step):
        return step.then(no_progress=0)
    # Of a layout that cannot be checked it is not known whether it is progress.
    return step if _unverified(scans, last) else step.then(no_progress=status.no_progress + 1)


def choose_checkpoint(step: Step, scans: Sequence[CheckpointScan]) -> Step:
    """The step with the checkpoint that the current attempt resumes from, and what that loses."""
    status = step.status
    choice = choose(scans, status.bad_checkpoints)
    last = status.history[-1] if status.history else None
    origin = choice.chosen.step if choice.chosen else None
    lost = 0
    if last is not None and last.last_step is not None:
        lost = max(0, last.last_step - _number(origin))
    ledger = lose_steps(status.ledger, lost, status.step_millis)
    return step.then(
        *_events(choice), lost_steps=status.lost_steps + lost, ledger=ledger, step=origin, **_fields(choice)
    )


def set_aside(context: Context) -> list[Event]:
    """What launchers renamed in the checkpoint directory before the attempt that has just started, or could not."""
    gang = context.gang
    reports = [gang.report(worker) for worker in range(gang.workers)]
    lines = list(dict.fromkeys(line for report in reports if report is not None for line in report.set_aside))
    if not lines:
        return []
    more = f"; and {len(lines) - _LINES_TOLD} more" if len(lines) > _LINES_TOLD else ""
    message = f"{'; '.join(lines[:_LINES_TOLD])}{more}"
    return [Event(reason=reasons.CHECKPOINTS_SET_ASIDE, message=message, warning=True)]


def _unverified(scans: Sequence[CheckpointScan], last: HistoryEntry) -> bool:
    return any(
        candidate.validity == CHECKPOINT_NOT_VERIFIED and candidate.step > _number(last.from_step)
        for scan in scans for candidate in scan.candidates
    )


def _unjudged(context: Context) -> HistoryEntry | None:
    history = context.status.history
    return history[-1] if history and history[-1].attempt > context.status.progress_judged else None


def _forgive(step: Step, last: HistoryEntry, scans: Sequence[CheckpointScan]) -> Step:
    """What the attempt has computed anew was written anew: the failures of what lay there do not count against it."""
    reached = range(_number(last.from_step) + 1, _number(last.last_step) + 1)
    anew = {candidate.path for scan in scans for candidate in scan.candidates if candidate.step in reached}
    bad = step.status.bad_checkpoints
    return step.then(bad_checkpoints=tuple(entry for entry in bad if entry.path not in anew))


def _mark_bad(step: Step, last: HistoryEntry) -> Step:
    """An attempt whose ranks ended before the first step beyond the checkpoint speaks against the checkpoint."""
    path = step.status.resume_from
    stepped = last.last_step is not None and last.last_step > _number(last.from_step)
    if path is None or stepped or last.reason not in _SPEAK_AGAINST:
        return step
    bad = after_failure(step.status.bad_checkpoints, path)
    marked = [entry for entry in bad if entry.path == path and entry.failures >= BAD_AFTER_FAILURES]
    message = f"{BAD_AFTER_FAILURES} attempts failed from {path}"
    events = [Event(reason=reasons.CHECKPOINT_MARKED_BAD, message=message, warning=True)] if marked else []
    return step.then(*events, bad_checkpoints=bad)


def _number(step: int | None) -> int:
    return -1 if step is None else step


def _fields(choice: Choice) -> dict[str, Any]:
    chosen = choice.chosen
    if chosen is None:
        return {"resume_from": None, "resume_step": None}
    written = format_time(chosen.written)
    checkpoint = CheckpointStatus(step=chosen.step, path=chosen.path, time=written, verified=True)
    return {"resume_from": chosen.path, "resume_step": chosen.step, "checkpoint": checkpoint}


def _events(choice: Choice) -> list[Event]:
    if choice.chosen is None and not choice.skipped:
        return []
    chosen = f"{choice.chosen.path} (step {choice.chosen.step})" if choice.chosen else "the beginning"
    passed = f"; passed over {'; '.join(choice.skipped)}" if choice.skipped else ""
    return [Event(reason=reasons.CHECKPOINT_CHOSEN, message=f"resume from {chosen}{passed}")]
