"""How each launcher is answered: a pure function of the job's orders and the launcher's report."""

from hedgerow.wire import (
    COMMAND_DUMP,
    COMMAND_FINISH,
    COMMAND_START,
    COMMAND_STOP,
    PHASE_INIT,
    RANK_EXITED,
    STAGE_RUNNING,
    STAGE_STOPPED,
    STAGE_WAITING,
    Answer,
    Command,
    Report,
)
from hedgerow_operator.core.plan import Orders
from hedgerow_operator.core.rank_reports import tells

# A standstill that goes on is looked at again this often.
DUMP_AGAIN_SECONDS = 60.0


def answer_for(orders: Orders, report: Report) -> Answer:
    """The answer to this report. Only commands that still have something to do for this launcher are in it."""
    current = _is_current(orders, report)
    if report.placement != orders.placement:
        commands: tuple[Command, ...] = (orders.stop_others,) if orders.stop_others else ()
    else:
        commands = orders.commands.get(report.worker, ())
    due = [command for command in commands if _due(command, report)]
    if not current and report.stage == STAGE_RUNNING and not any(entry.kind == COMMAND_STOP for entry in due):
        due.append(Command(kind=COMMAND_STOP, attempt=report.attempt, kill=True, reason=_why(orders, report)))
    return Answer(
        current=current,
        interval_seconds=orders.interval_seconds,
        deadlines=_deadlines(orders, report),
        commands=due,
    )


def _deadlines(orders: Orders, report: Report) -> dict[str, float]:
    """Ranks that never tell their progress stay in ``init``: no launcher watches them while another's rank speaks for
    them and is in time."""
    silent = orders.spoken_for and not any(tells(rank) for rank in report.ranks)
    return {phase: limit for phase, limit in orders.deadlines.items() if not (silent and phase == PHASE_INIT)}


def _is_current(orders: Orders, report: Report) -> bool:
    return (
        report.placement == orders.placement
        and report.attempt == orders.attempt
        and report.attempt > orders.fenced
        and orders.attempt > 0
    )


def _due(command: Command, report: Report) -> bool:
    idle = report.stage in (STAGE_WAITING, STAGE_STOPPED)
    if command.kind == COMMAND_START:
        return idle and report.attempt < command.attempt
    if command.kind == COMMAND_STOP:
        return report.stage == STAGE_RUNNING and report.attempt <= command.attempt
    if command.kind == COMMAND_DUMP:
        return report.attempt == command.attempt and _not_dumped(report)
    return command.kind == COMMAND_FINISH and idle


def _not_dumped(report: Report) -> bool:
    """Whether stacks are missing, or the flight recorders were not asked for long: not at every report."""
    if report.stage != STAGE_RUNNING:
        return False
    if report.dump_age is None or report.dump_age >= DUMP_AGAIN_SECONDS:
        return True
    return any(rank.stack is None and rank.state != RANK_EXITED for rank in report.ranks)


def _why(orders: Orders, report: Report) -> str:
    if report.attempt <= orders.fenced:
        return f"attempt {report.attempt} is fenced"
    return f"attempt {report.attempt} is not the current one"
