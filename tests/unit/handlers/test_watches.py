"""Every event only says which job to look at."""

from __future__ import annotations

from typing import Any, cast

import kopf
import pytest
from kubernetes.aio.client import Configuration

from hedgerow_operator.adapters.kube.api import Api
from hedgerow_operator.adapters.kube.nodes import Nodes
from hedgerow_operator.handlers.login import make_login
from hedgerow_operator.handlers.residents import Residents
from hedgerow_operator.handlers.watches import make_registry, make_settings
from hedgerow_operator.reconcile.ports import JobKey

BERT = JobKey("research", "bert")
OURS = {"hedgerow.dev/job": "bert"}


class Queue:
    """Remembers what was added."""

    def __init__(self) -> None:
        self.added: list[JobKey] = []

    def add(self, key: JobKey, after: float = 0.0) -> None:
        self.added.append(key)


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def handlers(queue: Queue) -> dict[str, Any]:
    nodes = Nodes(cast("Api", None), lambda: 0.0)
    registry = make_registry(queue, nodes, make_login(Configuration(host="http://x")), Residents(), watch_nodes=True)
    return {handler.id.rpartition(".")[2]: handler.fn for handler in registry._watching.get_all_handlers()}


def node(ready: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": "Ready", "status": ready}]}}


def test_a_training_job_is_looked_at_whatever_happened_to_it(handlers: dict[str, Any], queue: Queue) -> None:
    for kind in (None, "ADDED", "MODIFIED", "DELETED"):
        assert handlers["training_job"](type=kind, namespace="research", name="bert") is None
    assert queue.added == [BERT] * 4


def test_a_slurm_cluster_leads_to_itself_where_they_are_looked_at(queue: Queue) -> None:
    clusters, nodes = Queue(), Nodes(cast("Api", None), lambda: 0.0)
    registry = make_registry(
        queue, nodes, make_login(Configuration(host="http://x")), Residents(), watch_nodes=False, clusters=clusters
    )
    found = {handler.id.rpartition(".")[2]: handler.fn for handler in registry._watching.get_all_handlers()}
    assert cast("Any", found["slurm_cluster"])(namespace="slurm", name="hpc") is None
    assert (clusters.added, queue.added) == ([JobKey("slurm", "hpc")], [])


def test_no_slurm_cluster_is_watched_where_they_are_not(handlers: dict[str, Any]) -> None:
    assert "slurm_cluster" not in handlers


def test_a_placement_and_a_worker_lead_to_their_job(handlers: dict[str, Any], queue: Queue) -> None:
    handlers["placement"](namespace="research", labels=OURS)
    handlers["worker"](type="ADDED", namespace="research", name="bert-1-0-x", labels=OURS, spec={})
    assert queue.added == [BERT, BERT]


def test_what_is_not_ours_leads_nowhere(handlers: dict[str, Any], queue: Queue) -> None:
    handlers["placement"](namespace="research", labels={})
    handlers["worker"](type="ADDED", namespace="research", name="x", labels={}, spec={"nodeName": "node1"})
    assert queue.added == []


def test_a_node_that_falls_silent_leads_to_the_jobs_on_it(handlers: dict[str, Any], queue: Queue) -> None:
    for name, place in (("bert", "node1"), ("gpt", "node2")):
        labels = {"hedgerow.dev/job": name}
        spec = {"nodeName": place}
        handlers["worker"](type="ADDED", namespace="research", name=f"{name}-1-0-x", labels=labels, spec=spec)
    handlers["node"](type="ADDED", name="node1", body=node("True"))
    queue.added.clear()
    handlers["node"](type="MODIFIED", name="node1", body=node("Unknown"))
    handlers["node"](type="MODIFIED", name="node1", body=node("Unknown"))
    assert queue.added == [BERT]


def test_a_pod_that_is_gone_is_on_no_node() -> None:
    residents = Residents()
    residents.moved(BERT, "a", "node1")
    residents.moved(BERT, "b", "node1")
    residents.moved(BERT, "a", "")
    assert residents.on("node1") == (BERT,)
    residents.moved(BERT, "b", "node2")
    assert residents.on("node1") == ()


def test_kopf_writes_nothing_and_watches_only_what_carries_our_label() -> None:
    settings = make_settings()
    assert not settings.posting.enabled
    assert settings.peering.standalone
    selectors = {str(key): value for key, value in settings.watching.label_selectors.items()}
    assert sorted(selectors.values()) == ["hedgerow.dev/job", "hedgerow.dev/job"]


def test_the_time_of_a_watch_is_a_whole_number_as_the_api_server_wants_it() -> None:
    assert isinstance(make_settings().watching.server_timeout, int)


async def test_kopf_logs_in_as_everybody_else_here() -> None:
    configuration = Configuration(host="https://server", api_key={"BearerToken": "bearer secret"})
    info = await make_login(configuration)()
    assert isinstance(info, kopf.ConnectionInfo)
    assert (info.server, info.scheme, info.token) == ("https://server", "Bearer", "secret")
