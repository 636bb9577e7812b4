"""Nodes that die and nodes that cannot be asked: the next attempt waits until nothing of the old one can be alive."""

from concurrent.futures import Future
from datetime import datetime

import pytest

from tests.cluster.scenario.lost_nodes import FENCE_SECONDS, MARGIN_SECONDS, SAFE, Loss
from tests.cluster.scenario.ranks import AttemptWatch


@pytest.fixture(scope="module")
def losses(lost_nodes: "Future[dict[str, Loss]]") -> dict[str, Loss]:
    """What became of each job that lost a node."""
    return lost_nodes.result()


def seconds_between(earlier: str, later: str) -> float:
    """Of two times as the status has them."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


@pytest.mark.parametrize("name", ["dead", "cut"])
def test_the_next_attempt_waits_for_the_fence_and_begins_elsewhere(losses: dict[str, Loss], name: str) -> None:
    loss = losses[name]
    (entry,) = loss.status["history"]
    assert entry["ranks"] == [loss.lost_rank], loss.story
    assert loss.status["fencedAttempt"] == 1
    waited = seconds_between(loss.fenced_at, loss.status["attemptStartedAt"])
    assert waited >= FENCE_SECONDS + MARGIN_SECONDS - 1, loss.story  # times in the status are whole seconds
    assert loss.nodes == {SAFE}


def test_a_worker_that_was_cut_off_ends_its_ranks_before_the_next_attempt_begins(
    losses: dict[str, Loss], watch: AttemptWatch
) -> None:
    cut = losses["cut"]
    assert cut.ranks_after == [0, 1]
    watch.check(cut.uid)
    assert watch.seen[cut.uid] == {1, 2}


def test_a_lone_worker_is_never_given_up_by_time_but_by_word_that_its_node_is_out_of_service(
    losses: dict[str, Loss], watch: AttemptWatch
) -> None:
    lone = losses["lone"]
    assert lone.attempt_before == 1, lone.story
    assert (lone.status["attempt"], lone.status["history"][0]["reason"]) == (2, "NodeLost")
    watch.check(lone.uid)
