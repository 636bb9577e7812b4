"""Whatever a log holds: nothing is missed, nothing is told of twice, and nothing is restarted that waiting heals."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow_operator.replay.shown import as_object
from hedgerow_operator.replay.training import TrainingReplay
from tests.unit.replay.logs import Log

WORDS = [
    "ValueError: x", "[rank3]: RuntimeError: CUDA error: unknown error", '{"step": 5}', '{"step": 1, "time": 1e10}',
    "slurmstepd: error: *** STEP 1.0 ON n CANCELLED AT 2023-11-14T22:15:40 DUE TO TIME LIMIT ***",
    ':::MLLOG {"time_ms": 1700000000000, "key": "run_stop", "metadata": {"status": "aborted"}}',
    ':::MLLOG {"time_ms": 1500000000000, "key": "eval_start"}', '{"step": 3, "loss": NaN, "memory": 1e400}',
    "iteration 9/ 9 | lm loss: nan |", "Received SIGTERM: 15", '{"step": 7, "phase": "checkpoint", "time": 1700000007}',
]


@given(st.lists(st.sampled_from(WORDS), max_size=30), st.floats(0, 1e6))
@settings(max_examples=200, deadline=None)
def test_any_lines_make_a_story_whose_times_are_in_order(lines: list[str], gap: float) -> None:
    session = TrainingReplay()
    session.feed("\n".join(lines).encode())
    found = as_object(session.finish(gap))
    for incident in found["incidents"]:
        assert incident["lastProgressMillis"] <= incident["openedAtMillis"] <= incident["actionAtMillis"]
        assert incident["closedAtMillis"] is None or incident["closedAtMillis"] >= incident["openedAtMillis"]


@given(
    st.floats(0.2, 60.0),
    st.lists(st.tuples(st.integers(20, 60), st.floats(4.0, 7.0)), min_size=1, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_every_silence_of_four_usual_steps_is_told_of_once_and_heals(
    seconds: float, silences: list[tuple[int, float]]
) -> None:
    log = Log().steps(40, seconds)
    for steps, length in silences:
        log.silence(max(11.0, length * seconds)).steps(steps, seconds)
    incidents = log.replay()["incidents"]
    assert 1 <= len(incidents) <= len(silences)
    assert {incident["action"] for incident in incidents} == {"Alert"}
    first = incidents[0]
    late = (first["openedAtMillis"] - first["lastProgressMillis"]) / 1000
    assert late <= max(10.1, 4 * seconds)
