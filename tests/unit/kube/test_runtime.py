"""Placements are created once, taken down whole, and never taken from somebody else."""

from __future__ import annotations

from typing import Any, cast

import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.elsewhere import LocalElsewhere
from hedgerow_operator.adapters.kube.nodes import Nodes
from hedgerow_operator.adapters.kube.runtime import KubeRuntime
from hedgerow_operator.api.times import parse_time
from hedgerow_operator.reconcile.ports import Refused, Unreachable
from tests.unit.build.examples import INJECTION, UID, job
from tests.unit.kube.store import Store
from tests.unit.kube.test_leader import Clock

JOBS = "/apis/batch/v1/namespaces/research/jobs"
PODS = "/api/v1/namespaces/research/pods"
EVENTS = "/api/v1/namespaces/research/events"
CREATED = "2026-01-02T03:04:00Z"
NOW = parse_time("2026-01-02T03:05:00Z")


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def runtime(store: Store) -> KubeRuntime:
    api = cast("Api", store)
    return KubeRuntime(api, Nodes(api, Clock()), INJECTION, lambda: NOW)


def metadata(name: str, **more: Any) -> dict[str, Any]:
    labels = {"hedgerow.dev/job-uid": UID, "hedgerow.dev/placement": "1"}
    return {
        "name": name,
        "namespace": "research",
        "uid": f"uid-{name}",
        "labels": labels,
        "creationTimestamp": CREATED,
    } | more


def put_job(store: Store, **more: Any) -> None:
    store.put(f"{JOBS}/bert-1", {"metadata": metadata("bert-1", **more), "spec": {"completions": 2}, "status": {}})


def put_pod(store: Store, index: int, **more: Any) -> str:
    name = f"bert-1-{index}-abcde"
    fields = metadata(name, **more)
    fields["labels"]["batch.kubernetes.io/job-completion-index"] = str(index)
    store.put(f"{PODS}/{name}", {"metadata": fields, "spec": {}, "status": {"phase": "Running"}})
    return name


async def test_a_placement_is_created_with_its_jobs_manifest(store: Store, runtime: KubeRuntime) -> None:
    await runtime.create(job(), 1, ("node-a",))
    created = store.objects[f"{JOBS}/bert-1"]
    assert created["metadata"]["labels"]["hedgerow.dev/job-uid"] == UID
    assert "node-a" in str(created["spec"]["template"]["spec"]["affinity"])


async def test_creating_it_again_changes_nothing(store: Store, runtime: KubeRuntime) -> None:
    await runtime.create(job(), 1, ())
    before = store.objects[f"{JOBS}/bert-1"]
    await runtime.create(job(), 1, ("node-a",))
    assert store.objects[f"{JOBS}/bert-1"] == before


async def test_a_job_of_that_name_that_is_somebody_elses_is_left_alone(store: Store, runtime: KubeRuntime) -> None:
    store.put(f"{JOBS}/bert-1", {"metadata": {"name": "bert-1", "labels": {}}})
    with pytest.raises(Refused, match="belongs to something else; delete it, or give the TrainingJob another name"):
        await runtime.create(job(), 1, ())


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(422, Refused, id="a manifest that is wrong stays wrong"),
        pytest.param(403, Unreachable, id="a full quota or a missing right may pass"),
    ],
)
async def test_a_refused_creation(store: Store, runtime: KubeRuntime, status: int, expected: type[Exception]) -> None:
    store.failing = Rejected(status, "Whatever", "exceeded quota")
    with pytest.raises(expected, match=r"does not take Job bert-1: exceeded quota"):
        await runtime.create(job(), 1, ())


async def test_what_may_not_be_listed_is_unknown_rather_than_gone(store: Store, runtime: KubeRuntime) -> None:
    store.failing = Rejected(403, "Forbidden", "no right")
    with pytest.raises(Unreachable, match="cannot be listed"):
        await runtime.placements(job())


async def test_jobs_are_listed_before_pods_so_that_no_pod_is_overlooked(store: Store, runtime: KubeRuntime) -> None:
    await runtime.placements(job())
    assert store.calls == [("LIST", JOBS), ("LIST", PODS)]


async def test_only_what_carries_the_uid_of_the_job_is_its_own(store: Store, runtime: KubeRuntime) -> None:
    put_job(store)
    put_pod(store, 0)
    store.put(f"{PODS}/other", {"metadata": {"name": "other", "labels": {"hedgerow.dev/job-uid": "another"}}})
    (placement,) = await runtime.placements(job())
    assert [worker.name for worker in placement.workers if worker.name] == ["bert-1-0-abcde"]


async def test_workers_that_cannot_be_made_say_why(store: Store, runtime: KubeRuntime) -> None:
    put_job(store)
    put_pod(store, 0)
    for moment, message in (("2026-01-02T03:04:10Z", "old"), ("2026-01-02T03:04:20Z", "exceeded quota: gpus")):
        store.put(f"{EVENTS}/{moment}", {"metadata": {"name": moment}, "lastTimestamp": moment, "message": message})
    (placement,) = await runtime.placements(job())
    missing = [worker for worker in placement.workers if worker.index == 1]
    assert [(worker.phase, worker.waiting) for worker in missing] == [
        ("Pending", "cannot be created: exceeded quota: gpus")
    ]


async def test_workers_that_are_missing_for_no_stated_reason_are_just_missing(
    store: Store, runtime: KubeRuntime
) -> None:
    put_job(store)
    (placement,) = await runtime.placements(job())
    assert placement.workers == ()


async def test_a_job_on_its_way_out_misses_no_worker(store: Store, runtime: KubeRuntime) -> None:
    put_job(store, deletionTimestamp=CREATED)
    store.put(f"{EVENTS}/a", {"metadata": {"name": "a"}, "message": "exceeded quota"})
    (placement,) = await runtime.placements(job())
    assert placement.workers == ()


async def test_removing_it_deletes_the_job_and_lets_its_pods_follow(store: Store, runtime: KubeRuntime) -> None:
    put_job(store)
    put_pod(store, 0)
    await runtime.remove(job(), 1, ())
    assert store.deleted == [("bert-1", "uid-bert-1", None, "Foreground")]


async def test_pods_that_have_lost_their_job_are_deleted_one_by_one(store: Store, runtime: KubeRuntime) -> None:
    name = put_pod(store, 0)
    put_pod(store, 1, deletionTimestamp=CREATED)
    await runtime.remove(job(), 1, ())
    assert store.deleted == [(name, f"uid-{name}", None, "")]


async def test_removing_it_twice_asks_for_nothing_twice(store: Store, runtime: KubeRuntime) -> None:
    put_job(store, deletionTimestamp=CREATED)
    put_pod(store, 0, deletionTimestamp=CREATED)
    await runtime.remove(job(), 1, ())
    assert store.deleted == []


async def test_only_the_named_workers_are_forced(store: Store, runtime: KubeRuntime) -> None:
    put_job(store, deletionTimestamp=CREATED)
    name = put_pod(store, 0, deletionTimestamp=CREATED)
    put_pod(store, 1, deletionTimestamp=CREATED)
    await runtime.remove(job(), 1, (name, "bert-1-9-gone"))
    assert store.deleted == [(name, f"uid-{name}", 0, "")]


async def test_another_placement_stays(store: Store, runtime: KubeRuntime) -> None:
    put_job(store)
    await runtime.remove(job(), 2, ())
    assert store.deleted == []


async def test_what_is_gone_already_need_not_be_removed(store: Store, runtime: KubeRuntime) -> None:
    await runtime.remove(job(), 1, ())
    assert store.deleted == []


async def test_a_job_for_one_machine_is_refused_with_what_to_write_instead() -> None:
    elsewhere = LocalElsewhere()
    assert await elsewhere.placements(job()) == ()
    with pytest.raises(Refused, match=r"write spec\.kubernetes instead"):
        await elsewhere.create(job(), 1, ())
