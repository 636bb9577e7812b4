"""How each launcher is answered: a pure function of the job's orders and the launcher's report."""

from hedgerow.wire import (
    COMMAND_DUMP,
    COMMAND_FINISH,
    COMMAND_START,
    COMMAND_STOP,
    RANK_EXITED,
    STAGE_RUNNING,
    STAGE_STOPPED,
    STAGE_WAITING,
    Answer,
    Command,
    Report,
)
from hedgerow_operator.core.plan import Orders


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
        deadlines=dict(orders.deadlines),
        commands=due,
    )


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
        return report.attempt == command.attempt and _without_stacks(report)
    return command.kind == COMMAND_FINISH and idle


def _without_stacks(report: Report) -> bool:
    """Whether stacks are missing: a launcher that has taken them is not asked at every report."""
    if report.stage != STAGE_RUNNING:
        return False
    return any(rank.stack is None and rank.state != RANK_EXITED for rank in report.ranks)


def _why(orders: Orders, report: Report) -> str:
    if report.attempt <= orders.fenced:
        return f"attempt {report.attempt} is fenced"
    return f"attempt {report.attempt} is not the current one"
