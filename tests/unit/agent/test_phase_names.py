"""However many phases a job names, a report has room for them."""

from hedgerow import durations
from hedgerow.log_progress import LogProgress, Seen
from hedgerow.logs.observation import Observation
from hedgerow.wire import MAX_PHASE_NAME, MAX_PHASES, PHASE_CHECKPOINT, PHASE_OTHER, PHASE_STEP


def phases(told: LogProgress, first: int, last: int) -> None:
    second = 1_000_000_000
    seen = [
        Observation(source="json", step=number, phase=f"{number}-" + "x" * 100, boundary=True)
        for number in range(first, last)
    ]
    told.fold([Seen((5 * place + 5) * second, said) for place, said in enumerate(seen, first)])


def test_the_phases_of_a_log_beyond_the_room_are_one() -> None:
    told = LogProgress(0)
    phases(told, 0, 200)
    names = told.progress.histograms
    assert PHASE_OTHER in names
    assert len(names) < MAX_PHASES
    assert max(map(len, names)) == MAX_PHASE_NAME
    assert told.progress.phase == PHASE_OTHER


def test_ranks_with_phases_of_their_own_leave_room_for_ours() -> None:
    total: dict[str, durations.Histogram] = {}
    for rank in range(8):
        durations.merge(total, {f"rank-{rank}-phase-{number}": {1: 1} for number in range(50)})
    durations.merge(total, {PHASE_STEP: {1: 1}, PHASE_CHECKPOINT: {1: 1}})
    assert {PHASE_STEP, PHASE_CHECKPOINT, PHASE_OTHER} <= set(total)
    assert len(total) <= MAX_PHASES
    assert sum(sum(histogram.values()) for histogram in total.values()) == 402


def test_a_step_of_more_digits_than_steps_have_is_none() -> None:
    told = LogProgress(0)
    told.fold([Seen(1, Observation(source="json", step=10**30, phase=PHASE_STEP, boundary=True))])
    assert told.progress.step is None
