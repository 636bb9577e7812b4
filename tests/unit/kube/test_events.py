"""Events tell people something once, and count when it happens again."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.jobs import KubeJobs
from hedgerow_operator.core.plan import Event
from tests.unit.build.examples import job
from tests.unit.kube.store import OUTAGE, Store
from tests.unit.kube.test_leader import Clock

STALLED = Event(reason="IncidentOpened", message="rank 2 hangs", warning=True)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(store: Store, clock: Clock) -> KubeJobs:
    return KubeJobs(cast("Api", store), clock)


def events(store: Store) -> list[dict[str, Any]]:
    return [fields for path, fields in store.objects.items() if "/events/" in path]


async def test_an_event_names_its_job_and_says_why(store: Store, jobs: KubeJobs) -> None:
    await jobs.record(job(), STALLED)
    (event,) = events(store)
    assert event["involvedObject"]["kind"] == "TrainingJob"
    assert event["involvedObject"]["uid"] == job().metadata.uid
    assert (event["type"], event["reason"], event["message"]) == ("Warning", "IncidentOpened", "rank 2 hangs")
    assert event["metadata"]["namespace"] == "research"


async def test_the_same_again_is_counted_also_after_a_restart_of_the_operator(store: Store, clock: Clock) -> None:
    for _ in range(3):
        await KubeJobs(cast("Api", store), clock).record(job(), STALLED)
        clock.now += 60
    (event,) = events(store)
    assert event["count"] == 3
    assert event["lastTimestamp"] > event["firstTimestamp"]


async def test_something_else_is_another_event(store: Store, jobs: KubeJobs) -> None:
    for message in ("rank 2 hangs", "rank 3 hangs"):
        await jobs.record(job(), Event(reason="IncidentOpened", message=message))
    assert len(events(store)) == 2


@pytest.mark.parametrize("failure", [OUTAGE, Rejected(403, "Forbidden", "namespace is terminating")])
async def test_an_event_that_cannot_be_written_disturbs_nothing(
    store: Store, jobs: KubeJobs, failure: Exception
) -> None:
    store.failing = failure
    await jobs.record(job(), STALLED)
    assert events(store) == []
