"""Whatever happens in whatever order: one attempt at a time, bounded restarts, one end, and it comes back."""

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from hedgerow_operator.core.step import ENDED
from tests.unit.core.builders import make_job
from tests.unit.core.faults_of_world import FAULTS, heal
from tests.unit.core.world import World

OTHERS: dict[str, Callable[[World], None]] = {
    "heal": heal,
    "nothing": lambda world: None,
    "clock jumps on": lambda world: setattr(world, "clock_is_wrong_by", world.clock_is_wrong_by + 3600.0),
    "clock jumps back": lambda world: setattr(world, "clock_is_wrong_by", world.clock_is_wrong_by - 1800.0),
}
# What happens: a fault (or heal), how long it lasts, and in how many calls the operator dies (None: it lives).
MOMENTS = st.lists(
    st.tuples(
        st.sampled_from([*FAULTS, *OTHERS, "heal"]),
        st.sampled_from([0.5, 1.0, 2.0, 5.0, 12.0, 35.0, 90.0, 180.0]),
        st.none() | st.integers(0, 6),
    ),
    min_size=1, max_size=8,
)
SPEC = {
    "workers": 2, "ranksPerWorker": 2, "recovery": {"maxRestarts": 4, "fenceSeconds": 30, "graceSeconds": 5},
    "health": {"gangTimeoutSeconds": 60},
}


def lived_through(moments: list[tuple[str, float, int | None]], workers: int) -> World:
    """A world in which all of this has happened, and after which everything outside works again."""
    world = World(make_job({**SPEC, "workers": workers}))
    world.steps = 240
    for name, seconds, crash_in in moments:
        {**FAULTS, **OTHERS}[name](world)
        world.crash_in = crash_in
        world.run(seconds)
    heal(world)
    world.crash_in, world.clock_is_wrong_by = None, 0.0
    return world


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True,
          phases=[Phase.explicit, Phase.generate])
@given(moments=MOMENTS, workers=st.sampled_from([2, 3]))
# Cases that once brought two attempts to life, held a job up for ever, or might.
@example(moments=[("lose_node", 35.0, None), ("slow_down", 12.0, None), ("force_delete", 35.0, None)], workers=2)
@example(moments=[("lose_node", 12.0, 3), ("slow_down", 5.0, None), ("force_delete", 90.0, 1)], workers=3)
@example(moments=[("cut_node", 90.0, None), ("clock jumps on", 12.0, None), ("heal", 35.0, 2)], workers=2)
@example(moments=[("force_delete", 0.5, None), ("clock jumps on", 12.0, None), ("force_delete", 12.0, None)], workers=2)
@example(moments=[("slow_down", 2.0, None), ("force_delete", 2.0, None), ("clock jumps on", 35.0, 0)], workers=2)
def test_a_job_ends_once_whatever_happens_and_never_lives_twice(
    moments: list[tuple[str, float, int | None]], workers: int
) -> None:
    world = lived_through(moments, workers)
    for _ in range(720):
        if world.status.attempt_stage == ENDED:
            break
        world.run(5.0)
    assert world.status.attempt_stage == ENDED, f"{world.status.attempt_stage}: {world.status.conditions}"
    world.run(120.0, tick=2.0)
    assert world.status.state in ("Succeeded", "Failed")
    if world.status.state == "Succeeded":
        assert not any(launcher.alive for launcher in world.everyone)
