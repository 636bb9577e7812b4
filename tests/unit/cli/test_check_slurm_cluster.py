"""What `hedgerow check --context` says of the SlurmCluster that a job names."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import msgspec
import pytest

from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.training_job import training_job
from hedgerow_operator.cli.check_parts.cluster import slurm
from hedgerow_operator.cli.check_parts.cluster.site import Site
from tests.unit.build.examples import INJECTION
from tests.unit.cli.check_builders import Fields, all_told
from tests.unit.cli.cluster_double import Cluster

PATH = "/apis/hedgerow.dev/v1alpha1/namespaces/{}/slurmclusters/hpc"
SPEC = {"driver": "REST", "url": "https://h", "user": "ml", "tokenSecretRef": {"name": "t"}, "reportURL": "https://r",
        "tokenDirectory": "/t"}  # fmt: skip


def site(cluster: Cluster, *, beside: tuple[Fields, ...] = (), **reference: str) -> Site:
    spec = {"clusterRef": {"name": "hpc", **reference}, "script": "python a.py", "options": {"chdir": "/shared"}}
    fields = {"metadata": {"name": "llama"}, "spec": {"workers": 1, "ranksPerWorker": 1, "slurm": spec}}
    return Site(cast("Inquiry", cluster), training_job(fields), fields, beside, INJECTION)


def put(cluster: Cluster, namespace: str = "default", ready: str = "True", **spec: Any) -> None:
    condition = {"type": "Ready", "status": ready, "reason": "Answers", "message": "no route"}
    status = {"conditions": [condition] if ready else [], "version": "22.05.8", "nodes": "3/4"}
    metadata = {"name": "hpc", "namespace": namespace}
    cluster.put(PATH.format(namespace), {"metadata": metadata, "spec": {**SPEC, **spec}, "status": status})


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


async def test_one_that_answers_is_fine(cluster: Cluster) -> None:
    put(cluster)
    assert all_told(await slurm.findings(site(cluster))) == [
        "fine: SlurmCluster default/hpc answers, where the job is ml's: Slurm 22.05.8, 3/4 nodes"
    ]


async def test_one_that_is_not_there_is_an_error_unless_it_comes_along(cluster: Cluster) -> None:
    (sentence,) = all_told(await slurm.findings(site(cluster)))
    assert sentence.startswith("error: there is no SlurmCluster default/hpc; create it")
    beside = {"kind": "SlurmCluster", "metadata": {"name": "hpc"}}
    (sentence,) = all_told(await slurm.findings(site(cluster, beside=(beside,))))
    assert sentence.startswith("fine: ")


async def test_one_that_is_reached_by_slurmrestd_requeues_nothing(cluster: Cluster) -> None:
    put(cluster, driver="REST")
    asking = site(cluster)
    assert asking.job.spec.slurm is not None
    slurm_spec = msgspec.structs.replace(asking.job.spec.slurm, resubmit="Requeue")
    job = msgspec.structs.replace(asking.job, spec=msgspec.structs.replace(asking.job.spec, slurm=slurm_spec))
    (sentence,) = all_told(await slurm.findings(dataclasses.replace(asking, job=job)))
    assert sentence.startswith("error: resubmit: Requeue: slurmrestd has no requeue; write resubmit: NewJob")


UNFIT = {
    "nobody has asked": ("", "warning: nobody has asked SlurmCluster default/hpc yet"),
    "does not answer": ("Unknown", "warning: SlurmCluster default/hpc could not be asked lately: no route"),
    "cannot be used": ("False", "warning: SlurmCluster default/hpc is not ready: no route"),
}


@pytest.mark.parametrize(("ready", "said"), UNFIT.values(), ids=UNFIT.keys())
async def test_one_that(ready: str, said: str, cluster: Cluster) -> None:
    put(cluster, ready=ready)
    (sentence,) = all_told(await slurm.findings(site(cluster)))
    assert sentence.startswith(said)


async def test_one_of_another_namespace_must_allow_the_jobs(cluster: Cluster) -> None:
    put(cluster, "slurm")
    (sentence,) = all_told(await slurm.findings(site(cluster, namespace="slurm")))
    assert sentence.startswith("error: SlurmCluster slurm/hpc does not allow namespace default")
    put(cluster, "slurm", allowedNamespaces=[{"name": "default"}])
    (sentence,) = all_told(await slurm.findings(site(cluster, namespace="slurm")))
    assert sentence.startswith("fine: ")
