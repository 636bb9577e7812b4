"""The one pod that `hedgerow check --probe` starts: where it runs, what it finds, and that it never stays."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from kubernetes_validate import validate

from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.training_job import training_job
from hedgerow_operator.cli.check_parts.cluster import probe
from hedgerow_operator.cli.check_parts.cluster.site import Site
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.build.examples import INJECTION
from tests.unit.cli.check_builders import Fields, all_told, manifest
from tests.unit.cli.cluster_double import Cluster

PODS = "/api/v1/namespaces/default/pods"
URL = INJECTION.report_url


def site(cluster: Cluster, fields: Fields | None = None) -> Site:
    """A job at this cluster."""
    written = fields or manifest()
    return Site(cast("Inquiry", cluster), training_job(written), written, (), INJECTION)


OUTCOMES = {
    "Succeeded": ("", f"fine: a pod on None reached {URL}"),
    "Failed": ("timed out\n", f"error: a pod on None could not reach {URL}: timed out; does a NetworkPolicy hold it"),
}


@pytest.mark.parametrize("phase", OUTCOMES)
async def test_a_pod_that(phase: str) -> None:
    message, want = OUTCOMES[phase]
    cluster = Cluster()
    cluster.outcome = (phase, message)
    (sentence,) = all_told(await probe.findings(site(cluster)))
    assert sentence.startswith(want)
    assert [(uid, grace) for _name, uid, grace, _how in cluster.deleted] == [("1", 0)]


async def test_a_pod_that_does_not_start_is_a_warning_with_its_reason_and_is_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "WAIT_SECONDS", 0.0)
    cluster = Cluster()
    cluster.outcome = ("Pending", "")
    (sentence,) = all_told(await probe.findings(site(cluster)))
    assert sentence.startswith(f"warning: the pod that tries {URL} had not ended after 0 s: it says no reason")
    assert len(cluster.deleted) == 1


async def test_a_pod_that_is_refused_is_a_warning() -> None:
    cluster = Cluster()
    cluster.refused[PODS] = Rejected(403, "Forbidden", "exceeded quota")
    (sentence,) = all_told(await probe.findings(site(cluster)))
    assert sentence == f"warning: the pod that tries {URL} could not be run: exceeded quota"
    assert cluster.deleted == []


async def test_who_has_had_enough_of_waiting_leaves_no_pod() -> None:
    cluster = Cluster()
    cluster.outcome = ("Pending", "")
    task = asyncio.ensure_future(probe.findings(site(cluster)))
    while not cluster.created:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(cluster.deleted) == 1


class Silent(Cluster):
    """Creates the pod, and its answer is lost."""

    async def create(self, path: str, body: Fields) -> Fields:
        await super().create(path, body)
        raise Unreachable("no answer")


async def test_a_pod_of_which_no_answer_came_is_deleted_too() -> None:
    cluster = Silent()
    with pytest.raises(Unreachable):
        await probe.findings(site(cluster))
    assert len(cluster.deleted) == 1


def test_it_runs_where_the_workers_would_with_the_labels_that_network_policies_go_by() -> None:
    fields = manifest(pod={"nodeSelector": {"gpu": "yes"}, "hostNetwork": True, "tolerations": [{"key": "gpu"}]})
    fields["spec"]["kubernetes"]["template"]["metadata"] = {"labels": {"team": "a"}}
    pod = probe.probe_pod(site(Cluster(), fields), "hedgerow-check-1")
    assert pod["metadata"]["labels"] == {"team": "a", "hedgerow.dev/check": "probe"}
    assert (pod["spec"]["nodeSelector"], pod["spec"]["hostNetwork"]) == ({"gpu": "yes"}, True)
    assert "nvidia.com/gpu" not in str(pod)


@pytest.mark.parametrize("version", ["1.30", "1.36"])
def test_it_obeys_the_schema_and_the_restricted_standard(version: str) -> None:
    pod = probe.probe_pod(site(Cluster()), "hedgerow-check-1")
    validate(pod, version, strict=True)
    (container,) = pod["spec"]["containers"]
    security = container["securityContext"]
    assert (security["runAsNonRoot"], security["allowPrivilegeEscalation"]) == (True, False)
    assert pod["spec"]["activeDeadlineSeconds"] > 0
