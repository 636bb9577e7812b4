"""The operator is killed with SIGKILL between any two of its changes: always one attempt alive, always the same end."""

from concurrent.futures import Future

import pytest

from tests.cluster.scenario.lives import CHANGES_OF_A_LIFE, Outcome
from tests.cluster.scenario.ranks import AttemptWatch


@pytest.fixture(scope="module")
def outcomes(lives: "Future[dict[int, Outcome]]") -> dict[int, Outcome]:
    """One job for each of CHANGES_OF_A_LIFE."""
    return lives.result()


@pytest.mark.parametrize("changes", CHANGES_OF_A_LIFE)
def test_the_end_is_the_same_wherever_the_operator_was_killed(outcomes: dict[int, Outcome], changes: int) -> None:
    found = outcomes[changes]
    status = found.status
    assert status["state"] == "Succeeded", found.job.story()
    assert (status["restarts"], status["restartsCounted"], status["attempt"], status["placement"]) == (1, 1, 2, 1)
    assert [(entry["attempt"], entry["reason"], entry["ranks"]) for entry in status["history"]] == [
        (1, "NoProgress", [1])
    ]
    assert (status["resumeStep"], status["step"]) == (10, 20)


@pytest.mark.parametrize("changes", CHANGES_OF_A_LIFE)
def test_two_attempts_are_never_alive_at_once(outcomes: dict[int, Outcome], watch: AttemptWatch, changes: int) -> None:
    watch.check(outcomes[changes].job.uid)
    assert watch.seen[outcomes[changes].job.uid] == {1, 2}


def test_it_was_really_killed_between_all_changes(outcomes: dict[int, Outcome]) -> None:
    once = outcomes[1]
    assert once.lives >= len(once.writes) >= 8
    assert all(outcome.lives >= 3 for outcome in outcomes.values())


def test_one_job_object_was_made_however_often_it_was_tried(outcomes: dict[int, Outcome]) -> None:
    for outcome in outcomes.values():
        assert [placement["metadata"]["name"] for placement in outcome.job.placements()] == ["short-1"]
