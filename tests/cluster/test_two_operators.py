"""Two operators, one of which leads: it freezes, the other takes over, and the first one wakes."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import quickstart
from tests.cluster.scenario.operators import InstalledOperator
from tests.cluster.scenario.ranks import AttemptWatch
from tests.cluster.testbed.cluster import Cluster

pytestmark = pytest.mark.alone
LOST_LEASE = 3  # exit status of an operator that does not lead any more
TAKEOVER_SECONDS = 60


@pytest.fixture
def two_operators(operator: InstalledOperator) -> Iterator[InstalledOperator]:
    """A leader and a standby."""
    operator.scale(2)
    operator.cluster.wait_for("one of them to lead", lambda _: operator.leader(), TAKEOVER_SECONDS)
    yield operator
    operator.scale(1)


def test_a_leader_that_freezes_is_replaced_and_does_nothing_when_it_wakes(
    cluster: Cluster, place: str, two_operators: InstalledOperator, watch: AttemptWatch
) -> None:
    operator = two_operators
    first = operator.leader()
    process = operator.process(first)
    job = Job.apply(cluster, place, quickstart("taken-over"))
    job.wait_saved(10)
    os.kill(process, signal.SIGSTOP)
    cluster.wait_for("the other to lead", lambda _: operator.leader() not in ("", first), TAKEOVER_SECONDS)
    os.kill(process, signal.SIGCONT)
    cluster.wait_for("the first to leave", lambda _: exit_code(operator, first) is not None, TAKEOVER_SECONDS)
    assert exit_code(operator, first) == LOST_LEASE
    status = job.wait_state("Succeeded")
    assert (status["restarts"], status["placement"], status["history"][0]["ranks"]) == (1, 1, [2]), job.story()
    assert operator.leader() != first
    watch.check(job.uid)


def exit_code(operator: InstalledOperator, pod: str) -> int | None:
    """How the operator's container in this pod ended the last time; None when it never did."""
    found = next(entry for entry in operator.pods() if entry["metadata"]["name"] == pod)
    for state in ("state", "lastState"):
        ended = found["status"]["containerStatuses"][0].get(state, {}).get("terminated")
        if ended:
            return int(ended["exitCode"])
    return None
