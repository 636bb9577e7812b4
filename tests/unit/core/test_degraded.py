"""Whole lives of jobs that go on, but not as they should: what opens, what it says, and what closes it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.wire import CommunicationReport, RankReport
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import find_condition
from hedgerow_operator.api.status import Condition
from hedgerow_operator.core.step import ENDED, RUNNING
from hedgerow_operator.core.watching.job_watch import ROUND_SECONDS
from tests.unit.core.builders import make_job
from tests.unit.core.world import START, World
from tests.unit.core.world_launcher import STEP_SECONDS

TWO = {"workers": 2, "ranksPerWorker": 2}
GIBIBYTE = 2**30
Says = Callable[[RankReport, float], RankReport]


def watched(says: Says = lambda rank, now: rank, **spec: Any) -> World:
    """A job of two workers with two ranks each, whose ranks say this besides. Once it trains, its launchers report
    twice in each round of looks at their pace.
    """
    world = World(make_job({**TWO, **spec})).until(RUNNING)
    world.beat = ROUND_SECONDS / 2
    for launcher in world.launchers:
        launcher.says, launcher.stride = says, round(world.beat / STEP_SECONDS)
    return world


def degraded(world: World) -> Condition:
    found = find_condition(world.status.conditions, "Degraded")
    assert found is not None
    return found


def told(world: World) -> list[str]:
    """Reasons of the events since the start, those of every start left out."""
    usual = {reasons.PLACEMENT_CREATED, reasons.ATTEMPT_STARTED}
    return [event.reason for event in world.events if event.reason not in usual]


def paced(seconds: Callable[[int, float], float], load: Callable[[float], float] | None = None) -> Says:
    """Ranks whose steps take so long, by rank and the seconds since the start."""

    def says(rank: RankReport, now: float) -> RankReport:
        values = {"batch_size": load(now - START)} if load else {}
        return replace(rank, step_seconds=seconds(rank.rank, now - START), values=values)

    return says


def test_steps_that_take_longer_than_before_open_one_incident_that_closes() -> None:
    world = watched(paced(lambda rank, at: 0.65 if 600 <= at < 1000 else 0.5)).run(595.0)
    assert (degraded(world).status, degraded(world).reason) == ("False", reasons.AS_USUAL)
    world.run(120.0)
    now = degraded(world)
    assert (now.status, now.reason, world.status.restarts) == ("True", reasons.SLOWER_THAN_BASELINE, 0)
    assert "steps take 30 % longer than this job's own (0.7 s, usually 0.5 s) since " in now.message
    # Ranks that wait for each other step alike: whether one of them is slow was not seen.
    assert "; no rank is seen to differ, but the time in which ranks wait for each other is not " in now.message
    assert "nothing is restarted" in now.message
    world.run(600.0)
    assert degraded(world).status == "False"
    assert told(world) == [reasons.SLOWER_THAN_BASELINE, reasons.INCIDENT_CLOSED]


def test_steps_that_grow_with_the_batch_are_no_slow_down() -> None:
    batch = lambda at: 256.0 * (1 + int(at // 300))  # noqa: E731
    world = watched(paced(lambda rank, at: 0.5 * batch(at) / 256.0, batch)).run(1500.0)
    assert (degraded(world).status, told(world)) == ("False", [])


def test_an_operator_that_comes_back_knows_the_pace_and_tells_nothing_twice() -> None:
    world = watched(paced(lambda rank, at: 0.65 if at >= 600 else 0.5)).run(720.0)
    world.restart_operator()
    world.run(300.0)
    assert degraded(world).reason == reasons.SLOWER_THAN_BASELINE
    assert told(world) == [reasons.SLOWER_THAN_BASELINE]


def communicating(own: Callable[[int, float], float], link: Callable[[float], float]) -> Says:
    """Ranks that wait for the slowest: a step lasts as long as its slowest rank computes, and the link needs."""

    def says(rank: RankReport, now: float) -> RankReport:
        at = now - START
        step = max(own(one, at) for one in range(4)) + link(at)
        measured = CommunicationReport(seconds_per_step=step - own(rank.rank, at) + at * 1e-9, source="DDP")
        return replace(rank, step_seconds=step, communication=measured)

    return says


def test_the_rank_that_computes_longer_is_named_and_not_those_that_wait_for_it() -> None:
    own = lambda rank, at: 0.6 if rank == 3 and at >= 600 else 0.4  # noqa: E731
    world = watched(communicating(own, lambda at: 0.1)).run(720.0)
    now, (entry,) = degraded(world), world.status.degradations
    assert (now.reason, entry.ranks, entry.nodes) == (reasons.SLOWER_THAN_PEERS, (3,), ("node2",))
    assert (world.status.state, world.status.reason) == ("Running", reasons.SLOWER_THAN_PEERS)
    assert "rank 3 computes 1.5 times as long as before, the others do not" in now.message
    assert told(world) == [reasons.SLOWER_THAN_PEERS]


def test_ranks_that_all_compute_longer_are_told_as_no_rank_s_fault() -> None:
    world = watched(communicating(lambda rank, at: 0.6 if at >= 600 else 0.4, lambda at: 0.1)).run(720.0)
    assert (degraded(world).reason, world.status.degradations[0].ranks) == (reasons.SLOWER_THAN_BASELINE, ())
    assert "; no rank differs from the others; " in degraded(world).message


def test_a_slow_link_is_told_as_one() -> None:
    world = watched(communicating(lambda rank, at: 0.4, lambda at: 0.3 if at >= 600 else 0.1)).run(720.0)
    assert degraded(world).reason == reasons.COMMUNICATION_SLOW
    assert world.status.degradations[0].ranks == ()


def test_a_rank_that_was_behind_from_the_start_is_named_too() -> None:
    own = lambda rank, at: 0.9 if rank == 1 else 0.4  # noqa: E731
    world = watched(communicating(own, lambda at: 0.1)).run(400.0)
    assert (degraded(world).reason, world.status.degradations[0].ranks) == (reasons.SLOWER_THAN_PEERS, (1,))


def leaking(rank: RankReport, now: float) -> RankReport:
    grown = 20e6 * (now - START) if rank.rank == 3 else 0.0
    return replace(rank, memory_bytes=int(4 * GIBIBYTE + grown + rank.rank * 1e6))


def test_memory_that_grows_tells_when_its_limit_is_reached_before_it_is() -> None:
    world = watched(leaking)
    for launcher in world.launchers:
        launcher.memory_limit = 16 * GIBIBYTE
    world.run(260.0)
    now = degraded(world)
    assert (now.reason, world.status.degradations[0].ranks) == (reasons.MEMORY_GROWING, (3,))
    # 8 GiB more at 20 MB a second: 430 s after the start.
    assert "rank 3 reaches its limit at about 08:07 UTC" in now.message


def test_an_operator_that_was_restarted_says_that_memory_is_not_measured_until_it_has_learned_again() -> None:
    world = watched(lambda rank, now: replace(rank, memory_bytes=int(4 * GIBIBYTE)))
    for launcher in world.launchers:
        launcher.memory_limit = 16 * GIBIBYTE
    usual, _, unknown = degraded(world.run(200.0)).message.partition("not measured")
    assert ("memory" in usual, "memory" in unknown) == (True, False)
    world.restart_operator()
    usual, _, unknown = degraded(world.run(60.0)).message.partition("not measured")
    assert ("memory" in usual, "memory" in unknown) == (False, True)
    usual, _, unknown = degraded(world.run(140.0)).message.partition("not measured")
    assert ("memory" in usual, "memory" in unknown) == (True, False)


def test_memory_that_grows_stays_told_while_a_restarted_operator_learns_again() -> None:
    world = watched(leaking)
    for launcher in world.launchers:
        launcher.memory_limit = 16 * GIBIBYTE
    opened = degraded(world.run(260.0)).last_transition_time
    world.restart_operator()
    for _ in range(20):
        now = degraded(world.run(5.0))
        assert (now.reason, now.last_transition_time) == (reasons.MEMORY_GROWING, opened)


def test_memory_that_fills_a_cache_and_stays_below_its_limit_is_fine() -> None:
    says = lambda rank, now: replace(rank, memory_bytes=int(4e9 * (1 - 0.5 ** ((now - START) / 40))))  # noqa: E731
    world = watched(says)
    for launcher in world.launchers:
        launcher.memory_limit = 16 * GIBIBYTE
    world.run(600.0)
    assert told(world) == []


def valued(**by_time: Callable[[int, float], float | str | None]) -> Says:
    """Ranks that tell these numbers, by rank and the seconds since the start."""

    def says(rank: RankReport, now: float) -> RankReport:
        values = {name: value(rank.rank, now - START) for name, value in by_time.items()}
        return replace(
            rank, values={name: value for name, value in values.items() if isinstance(value, float)},
            not_finite={name: value for name, value in values.items() if isinstance(value, str)},
        )

    return says


def test_a_loss_that_is_nan_is_told_of_without_asking() -> None:
    world = watched(valued(loss=lambda rank, at: "NaN" if rank == 2 and at >= 60 else 2.5))
    world.run(90.0, tick=STEP_SECONDS)
    now, (entry,) = degraded(world), world.status.degradations
    assert (now.status, now.reason, entry.name, entry.ranks) == ("True", reasons.METRIC_ALERT, "nan-loss", (2,))
    assert "loss is NaN on rank 2 since 08:01:00 UTC" in now.message
    assert world.status.attempt_stage == RUNNING


def alert(**fields: Any) -> dict[str, Any]:
    return {"alerts": [{"name": "mine", "metric": "loss", "when": "isNaN", **fields}]}


def test_an_alert_that_stops_ends_the_job_with_grace() -> None:
    says = valued(loss=lambda rank, at: "NaN" if at >= 60 else 2.5)
    world = watched(says, **alert(action="Stop")).until(ENDED)
    failed = find_condition(world.status.conditions, "Failed")
    assert failed is not None
    assert (failed.status, failed.reason) == ("True", reasons.ALERT_STOP)
    assert "alert mine: loss is NaN" in failed.message
    assert (world.status.restarts, world.status.degradations) == (0, ())


def test_in_mode_observe_it_only_tells() -> None:
    says = valued(loss=lambda rank, at: "NaN" if at >= 60 else 2.5)
    world = watched(says, recovery={"mode": "Observe"}, **alert(action="Stop")).run(120.0)
    assert (world.status.attempt_stage, degraded(world).reason) == (RUNNING, reasons.METRIC_ALERT)


HELD: dict[str, tuple[dict[str, Any], Callable[[int, float], float | str | None], bool]] = {
    "a bound that is passed long enough": ({"when": "> 5", "forSeconds": 30}, lambda rank, at: 7.0, True),
    "a bound that is passed now and then": (
        {"when": "> 5", "forSeconds": 30}, lambda rank, at: 7.0 if at % 20 < 10 else 3.0, False),
    "a bound that is met exactly": ({"when": "<= 7"}, lambda rank, at: 7.0, True),
    "infinity is more than any bound": ({"when": "> 5"}, lambda rank, at: "Infinity", True),
    "NaN is neither more nor less": ({"when": "< 5", "name": "nan-loss"}, lambda rank, at: "NaN", False),
    "one rank is enough": ({"when": ">= 5"}, lambda rank, at: 9.0 if rank == 3 else 1.0, True),
    "a spike": ({"when": "spike"}, lambda rank, at: 9.0 if at > 100 else 2.0 + at % 3 / 100, True),
    "a metric that is not told any more": (
        {"when": "absent", "forSeconds": 60}, lambda rank, at: None if at > 60 else 1.0, True),
    "a metric that is still told": ({"when": "absent", "forSeconds": 60}, lambda rank, at: 1.0, False),
}


@pytest.mark.parametrize("case", HELD)
def test_an_alert_opens_for(case: str) -> None:
    fields, values, opens = HELD[case]
    world = watched(valued(loss=values), **alert(**fields)).run(150.0)
    name = fields.get("name", "mine")
    assert (name in {entry.name for entry in world.status.degradations}) is opens


def test_an_alert_closes_when_the_number_is_fine_again() -> None:
    says = valued(grad_norm=lambda rank, at: 900.0 if 60 <= at < 120 else 1.0)
    world = watched(says, **alert(metric="grad_norm", when="> 100")).run(200.0)
    assert (degraded(world).status, told(world)) == ("False", [reasons.METRIC_ALERT, reasons.INCIDENT_CLOSED])


def test_an_alert_on_a_metric_that_never_appears_says_which_do() -> None:
    says = valued(loss=lambda rank, at: 2.0, learning_rate=lambda rank, at: 1e-4)
    world = watched(says, **alert(metric="los")).run(200.0)
    now = degraded(world)
    assert (now.status, now.reason) == ("Unknown", reasons.METRIC_NEVER_SEEN)
    assert "which no rank has told so far; told are: learning_rate, loss, step_seconds" in now.message
    assert told(world) == [reasons.METRIC_NEVER_SEEN]


def test_what_is_open_ends_with_its_attempt() -> None:
    world = watched(paced(lambda rank, at: 0.65 if 600 <= at < 720 else 0.5)).run(715.0)
    assert degraded(world).status == "True"
    world.launchers[1].hang_at = world.launchers[1].step
    world.run(60.0)
    assert (world.status.attempt, world.status.degradations, degraded(world).status) == (2, (), "False")


def test_a_rank_that_hovers_about_the_bound_is_one_incident() -> None:
    own = lambda rank, at: (0.9 if at < 200 or at % 40 < 20 else 0.62) if rank == 1 else 0.4  # noqa: E731
    world = watched(communicating(own, lambda at: 0.1)).run(600.0)
    assert told(world) == [reasons.SLOWER_THAN_PEERS]


def test_a_rank_behind_the_others_that_slows_the_job_besides_is_one_incident() -> None:
    own = lambda rank, at: (0.8 if at < 900 else 1.3) if rank == 1 else 0.4  # noqa: E731
    world = watched(communicating(own, lambda at: 0.1)).run(1100.0)
    assert told(world) == [reasons.SLOWER_THAN_PEERS]
