"""SlurmClusters are written only as they were read, and the Secrets that they name are read entry by entry."""

from __future__ import annotations

import base64
from typing import Any, cast

import pytest
from msgspec import structs

from hedgerow_operator.adapters.kube.api import Api, Rejected
from hedgerow_operator.adapters.kube.slurm_clusters import KubeSecrets, KubeSlurmClusters
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Refused, Unreachable
from tests.unit.kube.store import Store

PATH = "/apis/hedgerow.dev/v1alpha1/namespaces/slurm/slurmclusters/hpc"
SECRET = "/api/v1/namespaces/slurm/secrets/token"
KEY = JobKey("slurm", "hpc")
SPEC = {"driver": "CLI", "reportURL": "https://r", "tokenDirectory": "/t"}


@pytest.fixture
def store() -> Store:
    store = Store()
    store.put(PATH, {"metadata": {"name": "hpc", "namespace": "slurm"}, "spec": SPEC})
    return store


@pytest.fixture
def clusters(store: Store) -> KubeSlurmClusters:
    return KubeSlurmClusters(cast("Api", store))


def secrets(store: Store) -> KubeSecrets:
    return KubeSecrets(cast("Api", store))


async def test_those_of_the_watched_namespaces_are_found(clusters: KubeSlurmClusters) -> None:
    assert await clusters.existing(("slurm", "other")) == (KEY,)
    assert await clusters.existing(("other",)) == ()


async def test_a_status_is_written_as_the_cluster_was_read(store: Store, clusters: KubeSlurmClusters) -> None:
    cluster = await clusters.get(KEY)
    assert cluster is not None
    store.objects[f"{PATH}/status"] = store.objects[PATH]
    written = await clusters.write_status(cluster, structs.replace(cluster.status, state="Ready"))
    assert written.status.state == "Ready"
    with pytest.raises(Conflict):
        await clusters.write_status(cluster, cluster.status)


async def test_one_that_is_gone_or_going_is_not_there(store: Store, clusters: KubeSlurmClusters) -> None:
    assert await clusters.get(JobKey("slurm", "other")) is None
    store.objects[PATH]["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    assert await clusters.get(KEY) is None


async def test_a_right_that_is_missing_teaches_nothing(store: Store, clusters: KubeSlurmClusters) -> None:
    store.failing = Rejected(403, "Forbidden", "slurmclusters is forbidden")
    for look in (lambda: clusters.get(KEY), lambda: clusters.existing(("slurm",))):
        with pytest.raises(Unreachable, match="forbidden"):
            await look()


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def test_an_entry_of_a_secret_is_its_text(store: Store) -> None:
    store.put(SECRET, {"metadata": {"name": "token"}, "data": {"jwt": in_base64("eyJ.a.b\n")}})
    assert await secrets(store).read("slurm", "token", "jwt") == "eyJ.a.b"


BROKEN: dict[str, tuple[dict[str, Any] | None, str]] = {
    "there is no Secret": (None, "there is no Secret slurm/token; create it"),
    "it has no such entry": ({"other": "YQ=="}, "Secret slurm/token has no entry jwt"),
    "it is no text": (
        {"jwt": base64.b64encode(b"\xff\xfe").decode()},
        "the entry jwt of Secret slurm/token is no token",
    ),
}


@pytest.mark.parametrize(("data", "said"), BROKEN.values(), ids=BROKEN.keys())
async def test_what_is_wrong_with_a_secret_is_told_without_its_content(
    data: dict[str, Any] | None, said: str, store: Store
) -> None:
    if data is not None:
        store.put(SECRET, {"metadata": {"name": "token"}, "data": data})
    with pytest.raises(Refused, match=said) as caught:
        await secrets(store).read("slurm", "token", "jwt")
    assert not any(str(text) in str(caught.value) for text in (data or {}).values())


async def test_a_secret_that_may_not_be_read_is_no_answer(store: Store) -> None:
    store.failing = Rejected(403, "Forbidden", "secrets is forbidden")
    with pytest.raises(Unreachable, match="may not be read"):
        await secrets(store).read("slurm", "token", "jwt")
