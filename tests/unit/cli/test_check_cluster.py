"""What `hedgerow check --context` makes of the cluster's answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from hedgerow_operator.adapters.kube.api import Rejected
from hedgerow_operator.adapters.kube.inquiry import Inquiry
from hedgerow_operator.api.training_job import training_job
from hedgerow_operator.build.injection import Injection
from hedgerow_operator.cli.check_parts.cluster import access, kinds, operators, references, trial
from hedgerow_operator.cli.check_parts.cluster.site import Site, looked
from hedgerow_operator.cli.check_parts.finding import Finding
from hedgerow_operator.reconcile.ports import Unreachable
from tests.unit.build.examples import INJECTION
from tests.unit.cli.check_builders import Fields, all_told, manifest, told
from tests.unit.cli.cluster_double import Cluster

CORE = "/api/v1/namespaces/default"
DEPLOYMENTS = "/apis/apps/v1/deployments"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/hedgerow-system/endpointslices"
JOBS = "/apis/hedgerow.dev/v1alpha1/namespaces/default/trainingjobs"
FORBIDDEN = Rejected(403, "Forbidden", "user jane cannot get it")


def site(cluster: Cluster, fields: Fields | None = None, *, beside: tuple[Fields, ...] = ()) -> Site:
    """A job at this cluster."""
    written = fields or manifest()
    return Site(cast("Inquiry", cluster), training_job(written), written, beside, INJECTION)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


Look = Callable[[Site], Awaitable[list[Finding]]]


async def test_rights_that_are_all_there_are_fine(cluster: Cluster) -> None:
    assert told(await access.findings(site(cluster))) == []


async def test_who_may_not_create_jobs_gets_an_error(cluster: Cluster) -> None:
    cluster.denied.add("create trainingjobs")
    assert told(await access.findings(site(cluster))) == [
        "error: you may not create trainingjobs.hedgerow.dev in namespace default; ask for that right"
    ]


async def test_other_rights_that_are_missing_are_a_warning_that_says_what_is_lost(cluster: Cluster) -> None:
    cluster.denied |= {"get pods/log", "patch trainingjobs"}
    (sentence,) = told(await access.findings(site(cluster)))
    assert sentence.startswith("warning: you may create jobs in namespace default, but not patch trainingjobs")
    assert "get pods/log (reading what the ranks print)" in sentence


GROUPS: dict[str, tuple[Fields | None, str]] = {
    "not installed": (None, "error: the cluster does not know TrainingJob: install Hedgerow by its chart"),
    "another version": ({"versions": [{"version": "v1"}]}, "error: the cluster serves TrainingJob as v1, and this"),
    "served": ({"versions": [{"version": "v1alpha1"}]}, "fine: the cluster serves hedgerow.dev/v1alpha1"),
}


@pytest.mark.parametrize("case", GROUPS)
async def test_the_kind_is(case: str, cluster: Cluster) -> None:
    group, want = GROUPS[case]
    if group is not None:
        cluster.put("/apis/hedgerow.dev", group)
    (sentence,) = all_told([await kinds.finding(cast("Inquiry", cluster))])
    assert sentence.startswith(want)


async def test_a_kind_of_another_release_is_a_warning(cluster: Cluster) -> None:
    cluster.put("/apis/hedgerow.dev", {"versions": [{"version": "v1alpha1"}]})
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/trainingjobs.hedgerow.dev"
    cluster.put(crd, {"metadata": {"labels": {"app.kubernetes.io/version": "0.0.9"}}})
    (sentence,) = told([await kinds.finding(cast("Inquiry", cluster))])
    assert sentence.startswith("warning: the cluster serves hedgerow.dev/v1alpha1 of release 0.0.9, and this is")


async def test_the_job_is_tried_as_it_is_written_without_what_the_server_writes(cluster: Cluster) -> None:
    fields = manifest()
    fields["metadata"] |= {"uid": "1", "resourceVersion": "2", "managedFields": [], "labels": {"a": "b"}}
    fields["status"] = {"state": "Running"}
    assert told(await trial.job_findings(site(cluster, fields))) == []
    (tried,) = cluster.tried
    assert tried["metadata"] == {"name": "llama", "namespace": "default", "labels": {"a": "b"}}
    assert tried["spec"] is fields["spec"]
    assert "status" not in tried


async def test_what_the_server_has_against_the_job_is_an_error(cluster: Cluster) -> None:
    cluster.refused[JOBS] = Rejected(422, "Invalid", "spec: workers cannot change")
    assert told(await trial.job_findings(site(cluster))) == [
        "error: the API server refuses it: spec: workers cannot change"
    ]


async def test_of_a_job_that_exists_the_change_is_tried(cluster: Cluster) -> None:
    cluster.put(f"{JOBS}/llama", manifest())
    (sentence,) = all_told(await trial.job_findings(site(cluster)))
    assert sentence.startswith("fine: the API server would take this change of it")


async def test_a_pod_is_tried_as_the_job_controller_would_make_it(cluster: Cluster) -> None:
    assert told(await trial.pod_findings(site(cluster))) == []
    (pod,) = cluster.tried
    assert pod["metadata"]["labels"]["hedgerow.dev/job"] == "llama"
    assert [entry["name"] for entry in pod["spec"]["initContainers"]] == ["hedgerow-inject"]


async def test_what_admission_has_against_the_pods_is_an_error(cluster: Cluster) -> None:
    cluster.refused[f"{CORE}/pods"] = Rejected(403, "Forbidden", 'violates PodSecurity "restricted:latest"')
    (sentence,) = told(await trial.pod_findings(site(cluster)))
    assert sentence == 'error: the API server refuses the pods of this job: violates PodSecurity "restricted:latest"'


async def test_who_may_not_create_pods_gets_a_warning(cluster: Cluster) -> None:
    words = 'pods is forbidden: User "jane" cannot create resource "pods" in API group ""'
    cluster.refused[f"{CORE}/pods"] = Rejected(403, "Forbidden", words)
    (sentence,) = told(await trial.pod_findings(site(cluster)))
    assert sentence.startswith("warning: a pod could not be tried, as you may not create any")


NAMES = manifest(
    container={
        "envFrom": [{"secretRef": {"name": "keys"}}, {"configMapRef": {"name": "maybe", "optional": True}}],
        "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "token", "key": "a"}}}],
    },
    pod={
        "volumes": [
            {"name": "a", "persistentVolumeClaim": {"claimName": "ckpt"}},
            {"name": "b", "secret": {"secretName": "tls"}},
            {"name": "c", "projected": {"sources": [{"configMap": {"name": "code"}}, {"secret": {"name": "more"}}]}},
        ],
        "imagePullSecrets": [{"name": "registry"}],
        "serviceAccountName": "trainer",
        "priorityClassName": "high",
        "runtimeClassName": "nvidia",
    },
)
NAMES["spec"]["kubernetes"]["template"]["metadata"] = {"labels": {"kueue.x-k8s.io/queue-name": "team-a"}}
NAMED = {
    "ConfigMap code", "LocalQueue team-a", "PersistentVolumeClaim ckpt", "PriorityClass high", "RuntimeClass nvidia",
    "Secret keys", "Secret more", "Secret registry", "Secret tls", "Secret token", "ServiceAccount trainer",
}  # fmt: skip


async def test_everything_that_the_template_names_and_needs_is_looked_for(cluster: Cluster) -> None:
    sentences = told(await references.findings(site(cluster, NAMES)))
    assert {sentence.split(" in namespace")[0] for sentence in sentences} == {
        f"error: there is no {one}" for one in NAMED
    }


async def test_what_is_there_or_comes_beside_the_job_is_fine(cluster: Cluster) -> None:
    named = references.references(site(cluster, NAMES))
    for one in named:
        if one.kind != "Secret":
            cluster.put(references.path_of(one, "default"), {"metadata": {"name": one.name}})
    secrets = ({"kind": "Secret", "metadata": {"name": name}} for name in ("keys", "more", "registry", "tls", "token"))
    (sentence,) = all_told(await references.findings(site(cluster, NAMES, beside=tuple(secrets))))
    assert "Secret keys (beside the job)" in sentence
    assert "ServiceAccount trainer" in sentence


async def test_what_may_not_be_seen_is_a_warning_not_an_error(cluster: Cluster) -> None:
    cluster.refused[f"{CORE}/secrets/registry"] = FORBIDDEN
    fields = manifest(pod={"imagePullSecrets": [{"name": "registry"}]})
    assert told(await references.findings(site(cluster, fields))) == [
        "warning: whether there is Secret registry could not be looked at, you may not see it"
    ]


async def test_the_claims_of_the_cluster_are_held_against_the_checkpoint_directory(cluster: Cluster) -> None:
    cluster.put(f"{CORE}/persistentvolumeclaims/ckpt", {"spec": {"accessModes": ["ReadWriteOnce"]}})
    fields = manifest(
        container={"volumeMounts": [{"name": "v", "mountPath": "/ckpt"}]},
        pod={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}]},
        checkpoint={"directory": "/ckpt"},
        workers=2,
    )
    (sentence,) = told(await references.claim_findings(site(cluster, fields)))
    assert "which is ReadWriteOnce" in sentence


def deployment(*arguments: str, ready: int = 1) -> Fields:
    """An operator as its chart installs it."""
    labels = {"app.kubernetes.io/part-of": "hedgerow", "app.kubernetes.io/component": "operator"}
    return {
        "metadata": {"name": "hedgerow", "namespace": "hedgerow-system", "labels": labels},
        "spec": {"template": {"spec": {"containers": [{"name": "operator", "args": list(arguments)}]}}},
        "status": {"readyReplicas": ready},
    }


OPERATORS: dict[str, tuple[list[Fields], str]] = {
    "none": ([], "error: no operator is installed"),
    "one for all": ([deployment()], "fine: the operator hedgerow-system/hedgerow runs and watches namespace default"),
    "one that does not run": ([deployment(ready=0)], "error: the operator hedgerow-system/hedgerow is installed and"),
    "one for others": (
        [deployment("--namespace=a", "--namespace=b")],
        "error: no operator watches namespace default, only a, b; add it to the chart's watchNamespaces",
    ),
    "one for others and one for this": (
        [deployment("--namespace=a"), deployment("--namespace=default")],
        "fine: the operator hedgerow-system/hedgerow runs",
    ),
}


@pytest.mark.parametrize("case", OPERATORS)
async def test_operators(case: str, cluster: Cluster) -> None:
    deployments, want = OPERATORS[case]
    for number, one in enumerate(deployments):
        cluster.put(f"{DEPLOYMENTS}/{number}", one)
    found = await operators.installed(cast("Inquiry", cluster))
    (sentence,) = all_told(operators.findings(found, "default"))
    assert sentence.startswith(want)


def test_the_operator_says_how_it_injects() -> None:
    supposed = Injection(image="a", report_url="http://a")
    said = operators.Operator("a/b", 1, {"inject-image": ["b:2"], "report-url": ["http://b:1"], "inject-cpu": ["2"]})
    assert said.injection(supposed) == Injection(image="b:2", report_url="http://b:1", cpu="2")


URLS = {
    "http://hedgerow.hedgerow-system.svc:8080": ("hedgerow", "hedgerow-system"),
    "http://h.ns.svc.cluster.local": ("h", "ns"),
    "https://reports.example.com": ("", ""),
    "http://10.0.0.1:8080": ("", ""),
}


@pytest.mark.parametrize("url", URLS)
def test_the_service_behind(url: str) -> None:
    assert operators.service_of(url) == URLS[url]


ENDPOINTS: dict[str, tuple[list[Any], str]] = {
    "nothing": ([], "error: pods would report to http://hedgerow.hedgerow-system.svc:8080, and no endpoint of Service"),
    "one that is not ready": ([{"conditions": {"ready": False}}], "error: pods would report"),
    "one that is": (
        [{"conditions": {"ready": True}}],
        "fine: pods report to http://hedgerow.hedgerow-system.svc:8080,",
    ),
    "one that does not say": ([{}], "fine: pods report to"),
}


@pytest.mark.parametrize("case", ENDPOINTS)
async def test_behind_the_report_url_is(case: str, cluster: Cluster) -> None:
    endpoints, want = ENDPOINTS[case]
    labels = {"kubernetes.io/service-name": "hedgerow"}
    cluster.put(f"{SLICES}/a", {"metadata": {"labels": labels}, "endpoints": endpoints})
    (sentence,) = all_told(await operators.service_findings(site(cluster)))
    assert sentence.startswith(want)


@pytest.mark.parametrize(
    ("error", "want"),
    [
        (FORBIDDEN, "warning: could not be looked at, you may not see it: user jane cannot get it"),
        (Unreachable("no answer"), "warning: could not be looked at: no answer"),
    ],
)
async def test_what_could_not_be_looked_at_is_never_fine_and_never_an_error(
    error: Exception, want: str, cluster: Cluster
) -> None:
    async def check(_: Site) -> list[Finding]:
        raise error

    assert told(await looked("x", check, site(cluster))) == [want]
