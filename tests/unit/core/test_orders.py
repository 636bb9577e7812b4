"""How launchers are answered: each command while it has something to do, and stop to all that are not current."""

from typing import Any

import pytest

from hedgerow import wire
from hedgerow_operator.core.orders import answer_for
from hedgerow_operator.core.plan import Orders
from tests.unit.core.builders import make_rank, make_report

START = wire.Command(kind=wire.COMMAND_START, attempt=2)
STOP = wire.Command(kind=wire.COMMAND_STOP, attempt=2)
DUMP = wire.Command(kind=wire.COMMAND_DUMP, attempt=2)
FINISH = wire.Command(kind=wire.COMMAND_FINISH, attempt=2)
OTHERS = wire.Command(kind=wire.COMMAND_STOP, attempt=2, kill=True)
ALL = (START, STOP, DUMP, FINISH)

WAITING, RUNNING = wire.STAGE_WAITING, wire.STAGE_RUNNING
STOPPING, STOPPED = wire.STAGE_STOPPING, wire.STAGE_STOPPED

# attempt and stage of the launcher, the commands that are out, what it is told
DUE: dict[str, tuple[int, str, tuple[wire.Command, ...], list[str]]] = {
    "a launcher that waits begins": (0, WAITING, (START,), ["start"]),
    "one that has stopped the attempt before begins": (1, STOPPED, (START,), ["start"]),
    "one that runs it already does not": (2, RUNNING, (START,), []),
    "one that has ended it does not begin it again": (2, STOPPED, (START,), []),
    "one that still stops the attempt before does not begin": (1, STOPPING, (START,), []),
    "one that runs is stopped": (2, RUNNING, (STOP,), ["stop"]),
    "one that is stopping is not told again": (2, STOPPING, (STOP,), []),
    "one that has stopped is not told again": (2, STOPPED, (STOP,), []),
    "one that runs is asked for stacks": (2, RUNNING, (DUMP,), ["dump"]),
    "one that has stopped is not": (2, STOPPED, (DUMP,), []),
    "one that has stopped may leave": (2, STOPPED, (FINISH,), ["finish"]),
    "one that runs may not": (2, RUNNING, (FINISH,), []),
}


@pytest.mark.parametrize("case", DUE)
def test_of_its_commands(case: str) -> None:
    attempt, stage, commands, told = DUE[case]
    orders = Orders(placement=1, attempt=2, commands={0: commands})
    report = make_report(make_rank(0), attempt=attempt, stage=stage)
    assert [command.kind for command in answer_for(orders, report).commands] == told


DUMPS: dict[str, tuple[dict[str, Any], float | None, list[str]]] = {
    "one that has never dumped": ({"stack": "stack"}, None, ["dump"]),
    "one that has just dumped, and has its stacks": ({"stack": "stack"}, 1.0, []),
    "one that has just dumped, and lacks a stack": ({}, 1.0, ["dump"]),
    "one that has dumped a while ago": ({"stack": "stack"}, 61.0, ["dump"]),
}


@pytest.mark.parametrize("case", DUMPS)
def test_is_asked_for_a_dump_of(case: str) -> None:
    fields, age, told = DUMPS[case]
    report = make_report(make_rank(0, **fields), attempt=2, dump_age=age)
    orders = Orders(placement=1, attempt=2, commands={0: (DUMP,)})
    assert [command.kind for command in answer_for(orders, report).commands] == told


MUTE: dict[str, Any] = {"source": None, "beats": 0, "step": None, "phase": "init"}
WATCHED: dict[str, tuple[dict[str, Any], bool, list[str]]] = {
    "ranks that tell nothing while another's lines speak for them": (MUTE, True, ["step"]),
    "ranks that tell nothing, and nobody speaks in time": (MUTE, False, ["init", "step"]),
    "ranks that tell by themselves": ({}, True, ["init", "step"]),
}


@pytest.mark.parametrize("case", WATCHED)
def test_which_phases_are_watched_of(case: str) -> None:
    fields, spoken_for, phases = WATCHED[case]
    orders = Orders(placement=1, attempt=2, deadlines={"init": 60.0, "step": 10.0}, spoken_for=spoken_for)
    answer = answer_for(orders, make_report(make_rank(4, **fields), make_rank(5, **fields), attempt=2))
    assert sorted(answer.deadlines) == phases


CURRENT: dict[str, tuple[dict[str, Any], dict[str, Any], bool, list[str]]] = {
    "the current attempt may go on": ({}, {}, True, []),
    "an older attempt is stopped": ({}, {"attempt": 1}, False, ["stop"]),
    "a newer one that nobody ordered too": ({}, {"attempt": 3}, False, ["stop"]),
    "another placement's too": ({"stop_others": OTHERS}, {"placement": 7}, False, ["stop"]),
    "even when it calls itself newer": ({"stop_others": OTHERS}, {"placement": 7, "attempt": 9}, False, ["stop"]),
    "a fenced attempt too": ({"fenced": 2}, {}, False, ["stop"]),
    "all when none is current": ({"attempt": 0}, {}, False, ["stop"]),
    "one that is stopping already is told nothing": ({"fenced": 2}, {"stage": STOPPING}, False, []),
    "one that never began anything is not current": ({"attempt": 0}, {"attempt": 0, "stage": WAITING}, False, []),
}


@pytest.mark.parametrize("case", CURRENT)
def test_launchers(case: str) -> None:
    orders, report, current, told = CURRENT[case]
    answer = answer_for(Orders(**{"placement": 1, "attempt": 2, **orders}), make_report(
        make_rank(0), **{"attempt": 2, **report}))
    assert (answer.current, [command.kind for command in answer.commands]) == (current, told)


def test_every_stop_reaches_the_attempt_that_it_is_for() -> None:
    answer = answer_for(Orders(placement=1, attempt=2, stop_others=OTHERS), make_report(placement=7, attempt=9))
    assert all(command.attempt >= 9 for command in answer.commands)


@pytest.mark.parametrize("stage", [WAITING, RUNNING, STOPPING, STOPPED])
@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_a_launcher_is_never_told_to_start_and_to_stop_at_once(stage: str, attempt: int) -> None:
    orders = Orders(placement=1, attempt=2, commands={0: ALL})
    told = {command.kind for command in answer_for(orders, make_report(attempt=attempt, stage=stage)).commands}
    assert not {"start", "stop"} <= told


def test_deadlines_and_interval_come_with_every_answer() -> None:
    orders = Orders(placement=1, attempt=2, deadlines={"step": 7.0}, interval_seconds=1.0)
    answer = answer_for(orders, make_report(attempt=2))
    assert (answer.deadlines, answer.interval_seconds) == ({"step": 7.0}, 1.0)
