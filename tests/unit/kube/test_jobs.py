"""Jobs are read from the store itself and written only as they were read."""

from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.jobs import KubeJobs
from hedgerow_operator.api.status import Incident
from hedgerow_operator.api.training_job import training_job_fields
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Unreachable
from tests.unit.build.examples import UID, job
from tests.unit.kube.store import Store
from tests.unit.kube.test_leader import Clock

ALL = "/apis/hedgerow.dev/v1alpha1/namespaces/research/trainingjobs"
PATH = f"{ALL}/bert"
BERT = JobKey("research", "bert")


@pytest.fixture
def store() -> Store:
    store = Store()
    fields = store.put(PATH, training_job_fields(job()))
    store.objects[f"{PATH}/status"] = fields
    return store


@pytest.fixture
def jobs(store: Store) -> KubeJobs:
    return KubeJobs(cast("Api", store), Clock())


async def test_a_job_that_is_not_there_is_none(jobs: KubeJobs) -> None:
    assert await jobs.get(JobKey("research", "other")) is None


async def test_a_status_replaces_the_whole_one_before(store: Store, jobs: KubeJobs) -> None:
    incident = Incident(kind="NoProgress", phase="step", opened_at="2026-01-02T03:04:05Z", attempt=1)
    read = await jobs.get(BERT)
    assert read is not None
    troubled = await jobs.write_status(read, msgspec.structs.replace(read.status, incident=incident))
    calm = msgspec.structs.replace(troubled.status, incident=None)
    await jobs.write_status(troubled, calm)
    assert "incident" not in store.objects[f"{PATH}/status"]["status"]


async def test_a_status_decided_from_an_old_object_is_not_written(store: Store, jobs: KubeJobs) -> None:
    read = await jobs.get(BERT)
    assert read is not None
    store.put(f"{PATH}/status", training_job_fields(job()))
    with pytest.raises(Conflict):
        await jobs.write_status(read, read.status)


async def test_the_template_of_the_user_is_sent_back_as_it_was(store: Store, jobs: KubeJobs) -> None:
    read = await jobs.get(BERT)
    assert read is not None
    await jobs.write_status(read, read.status)
    assert store.objects[f"{PATH}/status"]["spec"]["kubernetes"] == store.objects[PATH]["spec"]["kubernetes"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(404, Conflict, id="it is gone: read again"),
        pytest.param(409, Conflict, id="it has changed, or is another of its name: read again"),
        pytest.param(403, Unreachable, id="a right is missing: wait until it is given"),
    ],
)
async def test_a_change_that_is_refused(store: Store, jobs: KubeJobs, status: int, expected: type[Exception]) -> None:
    store.failing = Rejected(status, "Whatever", "no")
    for change in (jobs.write_status(job(), job().status), jobs.annotate(job(), "a", "b")):
        with pytest.raises(expected):
            await change


async def test_an_annotation_is_for_this_job_only_not_for_the_next_of_its_name(store: Store, jobs: KubeJobs) -> None:
    patches: list[dict[str, Any]] = []

    async def remember(path: str, patch: dict[str, Any]) -> dict[str, Any]:
        patches.append(patch)
        return store.objects[path]

    store.merge = remember  # type: ignore[method-assign]
    await jobs.annotate(job(), "hedgerow.dev/learned-durations", "{}")
    (metadata,) = (patch["metadata"] for patch in patches)
    assert (metadata["uid"], metadata["annotations"]) == (UID, {"hedgerow.dev/learned-durations": "{}"})


async def test_deleting_is_for_this_job_only_too(store: Store, jobs: KubeJobs) -> None:
    await jobs.delete(job())
    assert store.deleted == [("bert", UID, None, "Background")]


async def test_jobs_on_their_way_out_are_not_listed(store: Store, jobs: KubeJobs) -> None:
    leaving = training_job_fields(job())
    leaving["metadata"] |= {"name": "old", "deletionTimestamp": "2026-01-02T03:04:05Z"}
    store.put(f"{ALL}/old", leaving)
    assert await jobs.existing(("research",)) == {BERT: UID}


async def test_jobs_that_cannot_be_listed_are_unknown(store: Store, jobs: KubeJobs) -> None:
    store.failing = Rejected(403, "Forbidden", "no right")
    with pytest.raises(Unreachable, match="cannot be listed"):
        await jobs.existing(())


async def test_finalizers_are_changed_as_the_job_was_read(store: Store, jobs: KubeJobs) -> None:
    read = await jobs.get(BERT)
    assert read is not None
    kept = await jobs.set_finalizers(read, ("hedgerow.dev/slurm",))
    assert store.objects[PATH]["metadata"]["finalizers"] == ["hedgerow.dev/slurm"]
    with pytest.raises(Conflict):
        await jobs.set_finalizers(read, ())
    await jobs.set_finalizers(kept, ())
    assert store.objects[PATH]["metadata"]["finalizers"] == []
