"""The quota has to have room for every worker, not for one."""

from __future__ import annotations

from decimal import Decimal
from typing import cast

import pytest

from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.training_job import training_job
from hedgerow_operator.cli.check_parts.cluster.quota import amounts_of, quantity, quota_findings
from hedgerow_operator.cli.check_parts.cluster.site import Site
from tests.unit.build.examples import INJECTION
from tests.unit.cli.check_builders import Fields, all_told, manifest
from tests.unit.cli.cluster_double import Cluster

QUANTITIES = {
    "8": "8", "500m": "0.5", "1k": "1000", "1Ki": "1024", "64Gi": "68719476736", "1.5G": "1500000000", "1e3": "1000",
    "nothing": "0", "2E": "2000000000000000000",
}  # fmt: skip


@pytest.mark.parametrize("text", QUANTITIES)
def test_a_quantity_is_read_as_kubernetes_reads_it(text: str) -> None:
    assert quantity(text) == Decimal(QUANTITIES[text])


def container(cpu: str, **more: str) -> Fields:
    """A container that asks for this."""
    return {"resources": {"requests": {"cpu": cpu}, "limits": {"nvidia.com/gpu": "8"}}, **more}


def test_a_pod_counts_for_its_containers_or_for_more_at_its_beginning() -> None:
    together = {"spec": {"containers": [container("1"), container("2")], "initContainers": [container("500m")]}}
    begins = {"spec": {"containers": [container("1")], "initContainers": [container("4")]}}
    mesh = container("1", restartPolicy="Always")
    beside = {"spec": {"containers": [container("1")], "initContainers": [mesh, container("3")]}}
    assert [amounts_of(pod)["cpu"] for pod in (together, begins, beside)] == [3, 4, 4]
    assert amounts_of(together)["limits.nvidia.com/gpu"] == 16


CASES: dict[str, tuple[Fields, str]] = {
    "room for all": ({"hard": {"requests.cpu": "8"}, "used": {"requests.cpu": "0"}}, "fine: the quota of namespace"),
    "room for some": (
        {"hard": {"requests.cpu": "8"}, "used": {"requests.cpu": "3"}},
        "error: the quota q allows 8 of requests.cpu and has room for 2 of 4 workers now",
    ),
    "no room": (
        {"hard": {"pods": "2"}, "used": {"pods": "3"}},
        "error: the quota q allows 2 of pods and has room for 0 of 4 workers now; they would wait for each other",
    ),
    "a quota of something else": ({"hard": {"services": "0"}}, "fine: "),
    "a quota for some pods": ({"hard": {"pods": "0"}, "scopes": ["Terminating"]}, "fine: "),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_quota_with(case: str) -> None:
    quota, want = CASES[case]
    cluster = Cluster()
    spec = {name: quota[name] for name in ("hard", "scopes") if name in quota}
    cluster.put(
        "/api/v1/namespaces/default/resourcequotas/q",
        {"metadata": {"name": "q"}, "spec": spec, "status": {"used": quota.get("used", {})}},
    )
    fields = manifest(workers=4)
    site = Site(cast("Inquiry", cluster), training_job(fields), fields, (), INJECTION)
    (sentence,) = all_told(await quota_findings(site, {"spec": {"containers": [container("2")]}}))
    assert sentence.startswith(want)
