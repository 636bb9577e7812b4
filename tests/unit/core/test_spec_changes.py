"""A spec that changes while the job runs: every field either may not, or takes effect without disturbing the ranks."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from hedgerow_operator.api import reasons
from hedgerow_operator.api.recovery import HealthSpec, RecoverySpec
from hedgerow_operator.api.rules import CHANGE_RULES
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.validate import change_problems
from hedgerow_operator.core.step import ENDED, RUNNING
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS
from tests.unit.core.world import World

SPEC: dict[str, Any] = {"workers": 2, "ranksPerWorker": 2}
Check = Callable[[World], bool]


def limits(world: World) -> dict[str, float]:
    """How long each phase may be without progress before its launchers look closely."""
    assert world.orders is not None
    return world.orders.deadlines


def after(fault: str, seconds: float) -> Callable[[World], World]:
    """The same world some time after a fault."""

    def pass_time(world: World) -> World:
        FAULTS[fault](world)
        return world.run(seconds)

    return pass_time


def without_checkpoints(world: World) -> World:
    world.checkpoints, world.tears = [], True
    return world


def undisturbed(world: World) -> bool:
    return True


# Field -> its new value, and what shows that it has taken effect in the job as it runs on.
STEERS: dict[str, tuple[Any, Check]] = {
    "health.startupTimeoutSeconds": (60, lambda world: limits(world)["first-step"] == 60),
    "health.gangTimeoutSeconds": (1, undisturbed),
    "health.reportTimeoutSeconds": (10, undisturbed),
    "health.stall": ({"minSeconds": 50}, lambda world: limits(world)["step"] == 30),
    "health.slowdown": ({"thresholdPercent": 50}, undisturbed),
    "health.phases": ([{"name": "eval", "maxSeconds": 9}], lambda world: limits(world)["eval"] == 9),
    "health.nodeSignals": ([{"conditionType": "GpuUnhealthy"}], undisturbed),
    "alerts": ([{"name": "gone", "metric": "no_such", "when": "> 1"}],
               lambda world: [entry.reason for entry in world.run(130.0).status.degradations]
               == [reasons.METRIC_NEVER_SEEN]),
    "recovery.mode": ("Observe", lambda world: after("hang", 30.0)(world).status.attempt_stage == RUNNING),
    "recovery.maxRestarts": (
        0, lambda world: after("fail", 30.0)(world).status.reason == reasons.MAX_RESTARTS_EXCEEDED),
    "recovery.noProgressLimit": (
        1, lambda world: after("fail", 30.0)(without_checkpoints(world)).status.reason
        == reasons.NO_CHECKPOINT_PROGRESS),
    "recovery.backoff": ({"initialSeconds": 0}, undisturbed),
    "recovery.exclude": ({"maxNodes": 0}, undisturbed),
    "cost": ({"gpuHourUSD": "2.00"}, lambda world: world.status.lost_cost_usd is not None),
    "ttlSecondsAfterFinished": (1, undisturbed),
}
# Those that end what runs, by their meaning.
ENDS: dict[str, tuple[Any, str]] = {
    "suspend": (True, "Suspended"),
    "activeDeadlineSeconds": (1, "Failed"),
}


def fields(kind: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    for field in msgspec.structs.fields(kind):
        yield f"{prefix}{field.encode_name}"


def every_field() -> set[str]:
    """What a user can write, down to where the rules look."""
    top = set(fields(TrainingJobSpec)) - {"health", "recovery"}
    return top | set(fields(HealthSpec, "health.")) | set(fields(RecoverySpec, "recovery."))


def changed(world: World, field: str, value: Any) -> World:
    """The world after the user has written another value, if that is admitted."""
    assert world.job is not None
    group, _, name = field.rpartition(".")
    spec = {**SPEC, group: {name: value}} if group else {**SPEC, name: value}
    new = make_job(spec).spec
    assert list(change_problems(world.job.spec, new)) == []
    world.job = msgspec.structs.replace(world.job, spec=new)
    return world.run(5.0)


def test_for_every_field_it_is_decided_what_a_change_does() -> None:
    fixed = {rule.field for rule in CHANGE_RULES}
    assert fixed | set(STEERS) | set(ENDS) == every_field()
    assert not fixed & (set(STEERS) | set(ENDS))


@pytest.mark.parametrize("field", STEERS)
def test_what_steers_hedgerow_takes_effect_and_disturbs_no_rank(field: str) -> None:
    value, effective = STEERS[field]
    world = changed(World(make_job(SPEC)).until(RUNNING).run(20.0), field, value)
    commands = [command for launcher in world.launchers for command in launcher.commands]
    assert (world.status.attempt, world.status.state, set(commands)) == (1, "Running", {"start"})
    assert effective(world)


@pytest.mark.parametrize("field", ENDS)
def test_what_ends_a_running_job_does_so(field: str) -> None:
    value, state = ENDS[field]
    world = changed(World(make_job(SPEC)).until(RUNNING).run(20.0), field, value).run(20.0)
    assert (world.status.state, any(launcher.alive for launcher in world.everyone)) == (state, False)


def test_a_change_after_the_end_revives_nothing() -> None:
    world = World(make_job(SPEC)).until(RUNNING).run(5.0)
    for launcher in world.launchers:
        launcher.steps = launcher.step + 2
    world.until(ENDED)
    for field, (value, _) in {**STEERS, **ENDS}.items():
        if field != "ttlSecondsAfterFinished":
            changed(world, field, value)
    assert (world.status.state, world.status.attempt) == ("Succeeded", 1)
