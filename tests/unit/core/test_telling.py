"""When a person is told of a standstill, what is said of it, and when it is acted on: one alert an incident."""

import dataclasses
from collections.abc import Callable

import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import STALLED, find_condition
from hedgerow_operator.api.status import Condition
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.core.incidents import ABOUT_SECONDS
from hedgerow_operator.core.patience import TOGETHER_SECONDS
from hedgerow_operator.core.seen import Seen
from hedgerow_operator.core.step import RUNNING, STOPPING, Context
from hedgerow_operator.core.telling import at_once
from hedgerow_operator.core.verdict import Kind, Verdict
from tests.unit.core.builders import frozen, make_gang, make_job
from tests.unit.core.faults_of_world import FAULTS
from tests.unit.core.world import World

SPEC = {"workers": 2, "ranksPerWorker": 2}


def training(**spec: object) -> World:
    return World(make_job({**SPEC, **spec})).until(RUNNING).run(30.0)


def never_joins(world: World) -> None:
    """Ranks 2 and 3 do nothing at all while the others wait for them."""
    FAULTS["hang"](world)


def spins(world: World) -> None:
    """Ranks 2 and 3 use the processor without getting anywhere: nothing decisive."""

    def say(rank: wire.RankReport, now: float) -> wire.RankReport:
        return dataclasses.replace(rank, activity=dataclasses.replace(rank.activity, idle_seconds=0.0))

    FAULTS["hang"](world)
    world.launchers[1].says = say


def unmeasured(world: World) -> None:
    """As they do, but of no rank anything can be measured."""
    FAULTS["hang"](world)
    for launcher in world.launchers:
        launcher.says = lambda rank, now: dataclasses.replace(rank, activity=wire.Activity())


def together(world: World) -> None:
    """All ranks stand at the same step."""
    step = max(launcher.step for launcher in world.launchers) + 2
    for launcher in world.launchers:
        launcher.hang_at = step


def told_at(world: World, seconds: float = 300.0) -> float:
    """Seconds from the last progress until an incident is open."""
    still = min(launcher.still for launcher in world.launchers)
    began = world.now - still
    while world.status.incident is None:
        assert world.now - began < seconds, "nobody was told"
        world.tick(0.5)
        if max(launcher.still for launcher in world.launchers) < 1.0:
            began = world.now
    return world.now - began


def stalled(world: World) -> Condition:
    found = find_condition(world.status.conditions, STALLED)
    assert found is not None
    return found


def alerts(world: World) -> list[str]:
    return [event.reason for event in world.events if event.warning]


# Steps take half a second, so they are watched from 6 s on, and overdue after 10 s. Seconds to the telling, at least
# and at most; seconds to the restart, at least and at most.
STANDSTILLS: dict[str, tuple[Callable[[World], None], tuple[float, float], tuple[float, float]]] = {
    "some do nothing: told before the deadline, acted on with it": (never_joins, (6.0, 10.0), (10.0, 14.5)),
    "some spin: told as soon, acted on once waiting has cost a restart": (spins, (6.0, 10.0), (10.0, 30.0)),
    "nothing can be measured: told late, acted on once the deadline has passed three times": (
        unmeasured,
        (9.0, 12.5),
        (30.0, 60.0),
    ),
    "all do the same: told when it is too long for a pause": (together, (59.0, 62.5), (59.0, 90.0)),
}


@pytest.mark.parametrize("case", STANDSTILLS)
def test_where(case: str) -> None:
    fault, told, acted = STANDSTILLS[case]
    world = training()
    fault(world)
    seconds = told_at(world)
    assert told[0] <= seconds <= told[1]
    assert world.status.attempt_stage == RUNNING or seconds >= acted[0]
    incident = world.status.incident
    assert incident is not None
    assert incident.act_at is not None
    before = world.now
    world.until(STOPPING)
    assert acted[0] <= seconds + world.now - before <= acted[1]
    assert abs(parse_time(incident.act_at) - world.now) <= ABOUT_SECONDS + 1.0, "the time named was wrong"
    assert alerts(world) == [reasons.NO_PROGRESS]


# Whether it is decisive, its reason and phase, how many steps are known of each rank; whether it is acted on at once.
LATE: dict[str, tuple[bool, str, str, int, bool]] = {
    "a rank that is late in a job that has a past": (True, reasons.NO_PROGRESS, "step", 20, True),
    "one that is late in the first steps, when caches fill": (True, reasons.NO_PROGRESS, "step", 5, False),
    "one that is stopped by a signal in the first steps": (True, reasons.RANK_STOPPED, "step", 5, True),
    "one that never finishes to save": (True, reasons.NO_PROGRESS, "checkpoint", 5, True),
    "one of which nothing is sure": (False, reasons.NO_PROGRESS, "step", 500, False),
}


@pytest.mark.parametrize("case", LATE)
def test_what_is_acted_on_at_once(case: str) -> None:
    decisive, reason, phase, steps, wanted = LATE[case]
    still = Verdict(kind=Kind.STALLED, reason=reason, message="", ranks=(1,), decisive=decisive, phase=phase)
    job, gang = make_job(SPEC), make_gang(frozen(0, 60.0))
    context = Context(
        job=job, seen=Seen(placements=()), gang=gang, now=0.0, learned={"step": {36: 4 * steps}}, deadlines={}
    )
    assert at_once(context, still) is wanted


@pytest.mark.parametrize("fault", [spins, never_joins, together])
def test_what_is_told_is_the_evidence_and_what_comes_at_what_time(fault: Callable[[World], None]) -> None:
    world = training()
    fault(world)
    told_at(world)
    condition = stalled(world)
    assert (condition.status, world.status.state) == ("True", "Stalled")
    assert "no rank has progressed for" in condition.message
    assert world.status.incident is not None
    assert len(world.status.incident.evidence) >= 3
    if world.status.attempt_stage == RUNNING:
        assert "attempt 2 starts in place, at about" in condition.message
        assert "unless it comes back" in condition.message


def test_one_that_clears_by_itself_closes_its_incident_and_restarts_nothing() -> None:
    world = training()
    spins(world)
    told_at(world)
    world.launchers[1].hang_at = None
    world.run(10.0)
    assert (world.status.incident, world.status.attempt, world.status.state) == (None, 1, "Running")
    assert [event.reason for event in world.events][-2:] == [reasons.NO_PROGRESS, reasons.INCIDENT_CLOSED]


def test_a_pause_in_which_all_do_the_same_is_told_to_nobody_though_it_shows() -> None:
    world = training()
    together(world)
    world.run(TOGETHER_SECONDS - 10.0)
    condition = stalled(world)
    assert (condition.status, condition.reason, world.status.incident, alerts(world)) == (
        "Unknown",
        reasons.SUSPECT,
        None,
        [],
    )
    assert "attempt 2 starts in place, at about" in condition.message


def test_what_shows_work_again_after_it_was_told_says_what_is_waited_for() -> None:
    world = training()
    spins(world)
    told_at(world)

    def busy(rank: wire.RankReport, now: float) -> wire.RankReport:
        activity = dataclasses.replace(rank.activity, idle_seconds=0.0, io_idle_seconds=0.0)
        return dataclasses.replace(rank, activity=activity)

    world.launchers[1].says = busy
    world.run(60.0)
    assert (world.status.attempt, stalled(world).status) == (1, "True")
    assert "Since then: no rank has progressed" in stalled(world).message
    assert "ranks 2 and 3 still show work (rank 2 uses CPU, " in stalled(world).message


def test_a_stall_that_ends_in_a_crash_stays_one_incident_with_one_alert() -> None:
    world = training()
    spins(world)
    told_at(world)
    opened = world.status.incident
    assert opened is not None
    world.launchers[0].exit_code, world.launchers[0].ended_at = 1, world.now
    world.launchers[0].stage = wire.STAGE_STOPPED
    world.until(STOPPING)
    incident = world.status.incident
    assert incident is not None
    assert (incident.opened_at, incident.kind) == (opened.opened_at, reasons.RANK_EXITED)
    assert len(alerts(world)) == 1


def test_connections_that_break_while_some_stand_still_are_its_consequence() -> None:
    world = training()
    spins(world)
    told_at(world)
    launcher = world.launchers[0]
    launcher.exit_code, launcher.ended_at, launcher.stage = 1, world.now, wire.STAGE_STOPPED
    launcher.tail = ["RuntimeError: [gloo] Connection closed by peer [10.0.0.2]:4411"]
    world.until(STOPPING)
    incident = world.status.incident
    assert incident is not None
    assert (incident.kind, incident.ranks) == (reasons.NO_PROGRESS, (2, 3))
    assert "Connection closed by peer" in incident.evidence[-1]


def test_in_mode_observe_it_is_told_once_and_closed_once() -> None:
    world = training(recovery={"mode": "Observe"})
    spins(world)
    told_at(world)
    world.run(120.0)
    incident = world.status.incident
    assert incident is not None
    assert incident.action.startswith("would be: attempt 2 starts in place, at about")
    world.launchers[1].hang_at = None
    world.run(10.0)
    assert (world.status.attempt, alerts(world)) == (1, [reasons.NO_PROGRESS])
    assert [event.reason for event in world.events].count(reasons.INCIDENT_CLOSED) == 1


def test_one_that_nothing_more_is_done_about_says_so_from_the_beginning() -> None:
    world = training(recovery={"maxRestarts": 0})
    spins(world)
    told_at(world)
    assert "the job is given up, at about" in stalled(world).message
    assert "starts" not in stalled(world).message
