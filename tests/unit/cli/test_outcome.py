"""When a local run is over, and what is said then."""

import msgspec
import pytest

from hedgerow_operator.api.spec import CheckpointSpec
from hedgerow_operator.api.status import CheckpointStatus, HistoryEntry
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.outcome import exit_code, is_at_rest, output_to_read, verdict
from tests.unit.cli.builders import TRAINING, condition, job

AGAIN = "hedgerow local -f job.yaml --state-dir .hedgerow"
SAVED = CheckpointStatus(step=30, path="/c/step-30", time="", verified=True)


def test_the_exit_code_is_0_only_if_every_job_succeeded() -> None:
    good, bad = job(conditions=(condition("Succeeded"),)), job(conditions=(condition("Failed"),))
    assert [exit_code(jobs) for jobs in ([good], [good, good], [good, bad], [good, TRAINING])] == [0, 0, 1, 1]


def test_a_suspended_job_is_at_rest_only_while_it_is_asked_to_be_suspended() -> None:
    suspended = (condition("Suspended"),)
    assert is_at_rest(job(suspend=True, conditions=suspended))
    assert not is_at_rest(job(suspend=False, conditions=suspended))
    assert not is_at_rest(job(suspend=True))
    assert is_at_rest(job(conditions=(condition("Failed"),)))


def saving(**status: object) -> TrainingJob:
    plain = job(**status)  # type: ignore[arg-type]
    spec = msgspec.structs.replace(plain.spec, checkpoint=CheckpointSpec(directory="/c"))
    return msgspec.structs.replace(plain, spec=spec)


SAID: dict[str, tuple[TrainingJob, str]] = {
    "success with what it cost": (
        job(conditions=(condition("Succeeded"),), step=60, restarts=1, lost_steps=16, goodput_percent=49),
        "default/run succeeded: step 60 reached, 1 restart, 16 steps computed twice, goodput 49 %",
    ),
    "success of a job that tells nothing": (
        job(conditions=(condition("Succeeded"),)),
        "default/run succeeded: no restart",
    ),
    "failure with where to read on": (
        job(conditions=(condition("Failed", reason="ApplicationFault"),)),
        "default/run failed (ApplicationFault); what its ranks printed is in /logs/run",
    ),
    "a stop with the checkpoint and the command that go on": (
        saving(step=37, checkpoint=SAVED),
        f"default/run is stopped at step 37; it would resume from step 30 (/c/step-30); to go on: {AGAIN}",
    ),
    "a stop before the first step": (
        saving(),
        "default/run is stopped before its first step; there is no whole checkpoint yet, so it would begin "
        f"at step 0; to run it again: {AGAIN}",
    ),
    "a stop of a job without checkpoints": (
        job(step=5),
        "default/run is stopped at step 5; without a checkpoint directory it would begin at step "
        f"0; to run it again: {AGAIN}",
    ),
    "a suspension that the spec asks for": (
        job(suspend=True, step=12),
        "default/run is suspended at step 12; write suspend: false in its spec to go on",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_the_end_of_a_run_tells_of(case: str) -> None:
    ended, sentence = SAID[case]
    assert verdict(ended, AGAIN, lambda job: f"/logs/{job.metadata.name}") == sentence


def test_the_output_to_read_is_that_of_the_first_rank_that_is_blamed() -> None:
    blamed = HistoryEntry(attempt=1, placement=1, reason="RankExited", ranks=(5, 6))
    assert [output_to_read(job(history=(blamed,))), output_to_read(job(placement=1))] == [(1, 1), (1, 0)]


def test_the_output_to_read_is_not_that_of_a_placement_whose_ranks_never_started() -> None:
    blamed = HistoryEntry(attempt=3, placement=3, reason="RankExited", ranks=(0,))
    assert output_to_read(job(history=(blamed,), attempt=4, placement=4)) == (3, 0)
