"""What people are told: conditions, state, reason, figures; and what is worth a write at once."""

from typing import Any

import msgspec
import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import TYPES
from hedgerow_operator.api.status import Condition, Incident, Stopping, TrainingJobStatus
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.decide import decide
from hedgerow_operator.core.seen import Heard, PlacementSeen, Seen, WorkerSeen
from hedgerow_operator.core.step import (
    ENDED,
    GATHERING,
    PLACING,
    REMOVING,
    RUNNING,
    STARTING,
    STOPPING,
    SUSPENDED,
)
from hedgerow_operator.core.summary import worth_writing_now
from tests.unit.core.builders import exited, frozen, make_job, make_rank, make_report, make_worker

NOW = 1_800_000_000.0
GOING = (make_rank(0), make_rank(1), make_rank(2), make_rank(3))
STILL = tuple(frozen(rank, age=5000.0, idle_seconds=0.0, stack_unchanged_seconds=0.0) for rank in range(4))
STOP = Stopping(action="RestartInPlace", reason=reasons.NO_PROGRESS, message="rank 2 hangs", since=format_time(NOW))


GIVE_UP = msgspec.structs.replace(STOP, action="Fail", reason=reasons.APPLICATION_FAULT)
PAUSE = msgspec.structs.replace(STOP, action="Suspend", reason=reasons.SUSPENDING)


def decided(
    stage: str, *ranks: wire.RankReport, spec: dict[str, Any] | None = None, blind: bool = False,
    listening: float = 90.0, worker: WorkerSeen | None = None, report: dict[str, Any] | None = None, **status: Any,
) -> TrainingJobStatus:
    """The status after one decision on a job of one worker in this stage; without ranks nobody is heard."""
    job = make_job(spec, TrainingJobStatus(attempt=1, placement=1, attempt_stage=stage, **status))
    heard = (Heard(report=make_report(*ranks, **(report or {})), age=0.5),) if ranks or report else ()
    placements = () if stage in (SUSPENDED, PLACING) else (
        PlacementSeen(attempt=1, workers=(worker or make_worker(),), age_seconds=500.0, report_url="http://here:1"),)
    seen = Seen(placements=None if blind else placements, heard=heard, listening_seconds=listening)
    return decide(job, seen, NOW).status


def condition(status: TrainingJobStatus, kind: str) -> Condition:
    return next(entry for entry in status.conditions if entry.type == kind)


WAITING = {"stage": wire.STAGE_WAITING, "attempt": 0, "ranks_per_worker": 4}
UNREADABLE = {**WAITING, "checkpoints": wire.CheckpointScan(error="stale file handle", quiet=True)}
SCANNING = {**WAITING, "checkpoints": wire.CheckpointScan(quiet=False)}

TOLD: dict[str, tuple[TrainingJobStatus, str, str, str]] = {
    "training": (decided(RUNNING, *GOING), "Running", "Running", reasons.TRAINING),
    "some ranks have ended": (decided(RUNNING, *GOING[:3], exited(3, 0)), "Running", "Running", reasons.ENDING),
    "no launcher is heard": (decided(RUNNING), "Running", "Unknown", reasons.REPORTS_LOST),
    "the place cannot be asked": (decided(RUNNING, *GOING, blind=True), "Running", "Unknown", reasons.NOT_MEASURED),
    "a standstill that shows work": (decided(RUNNING, *STILL), "Stalled", "Running", reasons.SUSPECT),
    "being started": (decided(STARTING, *GOING, report=WAITING), "Running", "Starting", reasons.STARTING),
    "being stopped": (decided(STOPPING, *GOING, stopping=STOP), "Running", "Recovering", reasons.RESTARTING),
    "being stopped for good": (
        decided(STOPPING, *GOING, stopping=GIVE_UP), "Running", "Failing", reasons.APPLICATION_FAULT),
    "being suspended": (decided(STOPPING, *GOING, stopping=PAUSE), "Running", "Suspending", reasons.SUSPENDING),
    "being removed": (decided(REMOVING, stopping=STOP), "Running", "Recovering", reasons.FENCING),
    "a pod that has never reported": (decided(GATHERING), "Running", "Starting", reasons.NO_REPORTS),
    "not long enough to tell": (decided(GATHERING, listening=30.0), "Running", "Starting", reasons.WAITING_FOR_WORKERS),
    "a checkpoint directory that cannot be read": (
        decided(GATHERING, report=UNREADABLE), "Running", "Starting", reasons.NOT_MEASURED),
    "a wait before the next start": (
        decided(PLACING, next_start_at=format_time(NOW + 60)), "Running", "Starting", reasons.BACKING_OFF),
    "silence beyond that wait": (
        decided(GATHERING, next_start_at=format_time(NOW - 60)), "Running", "Starting", reasons.NO_REPORTS),
    "suspended": (decided(SUSPENDED, spec={"suspend": True}), "Suspended", "Suspended", reasons.SUSPENDED),
    "failed": (
        decided(ENDED, stopping=Stopping(action="Fail", reason=reasons.APPLICATION_FAULT, since=format_time(NOW)),
                completion_time=format_time(NOW)), "Failed", "Failed", reasons.APPLICATION_FAULT),
    "succeeded": (
        decided(ENDED, completion_time=format_time(NOW)), "Succeeded", "Succeeded", reasons.ALL_RANKS_FINISHED),
}


@pytest.mark.parametrize("case", TOLD)
def test_told(case: str) -> None:
    status, kind, state, reason = TOLD[case]
    assert (status.state, condition(status, kind).reason) == (state, reason)


MESSAGES = {
    "a scan that is not done": (decided(GATHERING, report=SCANNING), "worker 0 still looks at the checkpoints"),
    "a directory that cannot be read": (decided(GATHERING, report=UNREADABLE), "stale file handle"),
    "launchers of another shape": (
        decided(GATHERING, report={**WAITING, "ranks_per_worker": 1}),
        "another number of workers or ranks than the 1 x 4 of the spec"),
    "who is silent, where it should be heard, and the usual causes": (
        decided(GATHERING), "worker 0 runs but has never reported to http://here:1; usual causes: a network policy"),
    "an image that cannot be pulled": (
        decided(GATHERING, listening=1.0,
                worker=make_worker(phase="Pending", waiting="container train: ImagePullBackOff")),
        "worker 0 container train: ImagePullBackOff"),
    "a node that cannot be asked": (
        decided(REMOVING, stopping=STOP, worker=make_worker(node_silent=True, terminating=True)),
        "worker 0 on node1 cannot be asked and may still train"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_the_message_tells_of(case: str) -> None:
    status, words = MESSAGES[case]
    assert words in condition(status, "Running").message


def trouble(kind: str) -> Incident:
    return Incident(kind=kind, reason=kind, opened_at=format_time(NOW), attempt=1, message="rank 2 is guilty")


STALLED: dict[str, tuple[TrainingJobStatus, str, str]] = {
    "a stall that is being ended": (
        decided(STOPPING, *GOING, stopping=STOP, incident=trouble(reasons.NO_PROGRESS)), "True", "Stalled"),
    "a rank that exited: its attempt has failed, and is being ended": (
        decided(STOPPING, *GOING, stopping=STOP, incident=trouble(reasons.RANK_EXITED)), "False", "Recovering"),
    "a rank that exited in mode Observe: the others wait for it": (
        decided(RUNNING, *GOING[:3], exited(3, 1, ago=60.0), spec={"recovery": {"mode": "Observe"}}),
        "True", "Stalled"),
}


@pytest.mark.parametrize("case", STALLED)
def test_stalled(case: str) -> None:
    status, value, state = STALLED[case]
    assert (condition(status, "Stalled").status, status.state) == (value, state)


def test_after_success_every_rank_counts_as_done() -> None:
    ranks = TOLD["succeeded"][0].ranks
    assert ranks is not None
    assert ranks.summary == "4/4 done"


def test_every_condition_is_there_with_the_generation_it_is_about() -> None:
    status = decided(RUNNING, *GOING)
    assert [entry.type for entry in status.conditions] == list(TYPES)
    assert {entry.observed_generation for entry in status.conditions} == {1} == {status.observed_generation}


def test_exactly_one_condition_tells_the_end() -> None:
    for case in ("failed", "succeeded"):
        ends = [entry.status for entry in TOLD[case][0].conditions if entry.type in ("Succeeded", "Failed")]
        assert sorted(ends) == ["False", "True"]


def test_figures() -> None:
    status = decided(RUNNING, *GOING[:3], make_rank(3, step=36), spec={"cost": {"gpuHourUSD": "3.60"}},
                     start_time=format_time(NOW - 100))
    assert (status.step, status.ranks and status.ranks.summary, status.goodput_percent) == (36, "4/4", 100)
    assert status.lost_cost_usd == "0.00"


@pytest.mark.parametrize(
    ("ranks", "step"),
    [(GOING, 37), ((*GOING[:3], make_rank(3, step=None)), 20), ((*GOING[:3], make_rank(3, step=12)), 12), ((), 20)],
    ids=["all have it", "one names none", "one went back", "none is heard"],
)
def test_the_step_is_the_last_that_every_rank_has_reached(ranks: tuple[wire.RankReport, ...], step: int) -> None:
    assert decided(RUNNING, *ranks, step=20).step == step


def test_it_never_falls_behind_the_checkpoint_that_the_attempt_began_with() -> None:
    status = decided(RUNNING, *(make_rank(rank, step=3) for rank in range(4)), step=20, resume_step=10)
    assert status.step == 10


FIGURES: dict[str, tuple[dict[str, Any], bool]] = {
    "a further step waits": ({"step": 50}, False),
    "the goodput waits": ({"goodput_percent": 50}, False),
    "a new stage does not": ({"attempt_stage": STOPPING}, True),
    "an exclusion does not": ({"fenced_attempt": 1}, True),
    "another reason does not": ({"reason": "Other"}, True),
}


@pytest.mark.parametrize("case", FIGURES)
def test_write(case: str) -> None:
    old = decided(RUNNING, *GOING)
    changes, urgent = FIGURES[case]
    assert worth_writing_now(old, msgspec.structs.replace(old, **changes)) is urgent


def test_another_wording_waits() -> None:
    old = decided(RUNNING, *GOING)
    reworded = tuple(msgspec.structs.replace(entry, message="other words") for entry in old.conditions)
    assert not worth_writing_now(old, msgspec.structs.replace(old, conditions=reworded))
