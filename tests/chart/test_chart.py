"""What the chart installs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes_validate import validate
from ruamel.yaml import YAML

from hedgerow_operator.main import main
from tests.chart.rendering import CHART, helm, only, render
from tools import chart_files

REPOSITORY = Path(__file__).resolve().parents[2]
VARIANTS = {
    "as it comes": (),
    "two namespaces only": ("watchNamespaces={research,vision}",),
    "everything chosen by the user": (
        "commonLabels.team=ml",
        "image.digest=sha256:" + "0" * 64,
        "imagePullSecrets[0].name=registry",
        "serviceAccount.create=false",
        "serviceAccount.name=mine",
        "replicas=2",
        "nodeSelector.pool=system",
        "tolerations[0].operator=Exists",
        "priorityClassName=system-cluster-critical",
        "extraEnv[0].name=HTTPS_PROXY",
        "extraEnv[0].value=http://proxy",
        "reportURL=https://hedgerow.example.org",
    ),
    "with agents": ("agent.enabled=true",),
    "with alert rules as a file": ("alerts.kind=ConfigMap", "alerts.labels.prometheus=main"),
    "with agents, and taints on quarantined nodes": ("agent.enabled=true", "nodeAction=Taint"),
    "with agents chosen by the user": (
        "agent.enabled=true",
        "agent.image.repository=example.org/agent",
        "agent.devices=fake:/fake/gpus.yaml",
        "agent.kernelLog=none",
        "agent.checkpointPaths={/data}",
        "agent.maxUnavailable=1",
        "agent.runtimeClassName=nvidia",
        "agent.priorityClassName=system-node-critical",
        "agent.serviceAccount.create=false",
        "agent.serviceAccount.name=mine",
        "agent.extraEnv[0].name=HTTPS_PROXY",
        "agent.extraEnv[0].value=http://proxy",
        "agent.extraVolumes[0].name=fake",
        "agent.extraVolumes[0].hostPath.path=/fake",
        "agent.extraVolumeMounts[0].name=fake",
        "agent.extraVolumeMounts[0].mountPath=/fake",
    ),
}


def container(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = only(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(found)


def crds(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for entry in objects if entry["kind"] == "CustomResourceDefinition"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_object_obeys_the_schema_of_kubernetes(variant: str) -> None:
    for entry in render(*VARIANTS[variant]):
        if entry["kind"] != "CustomResourceDefinition":
            validate(entry, "1.36", strict=True)


def test_helm_finds_nothing_to_complain_about() -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART))


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_object_carries_the_usual_labels(variant: str) -> None:
    wanted = {"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart"}
    for entry in render(*VARIANTS[variant]):
        assert wanted <= set(entry["metadata"]["labels"]), entry["metadata"]["name"]


def test_the_operator_is_restricted() -> None:
    objects = render()
    pod = only(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(objects)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def test_the_operator_understands_every_argument_that_it_is_given() -> None:
    known = {name for option in main.params for name in option.opts}
    given = {argument.partition("=")[0] for argument in container(render(*VARIANTS["two namespaces only"]))["args"]}
    assert given <= known


def test_workers_are_told_the_service_of_the_operator() -> None:
    objects = render(release="other")
    service = only(objects, "Service")
    assert "--report-url=http://other-hedgerow.hedgerow-system.svc:8080" in container(objects)["args"]
    assert (service["metadata"]["name"], service["spec"]["ports"][0]["port"]) == ("other-hedgerow", 8080)


def test_workers_are_given_the_launcher_by_the_operators_image_unless_told_otherwise() -> None:
    plain, chosen = container(render()), container(render("inject.image=example.org/inject:1"))
    assert f"--inject-image={plain['image']}" in plain["args"]
    assert "--inject-image=example.org/inject:1" in chosen["args"]


def test_what_the_init_container_may_use_is_passed_on() -> None:
    plain = container(render())["args"]
    chosen = container(render("inject.resources.memory=128Mi", "inject.resources.ephemeralStorage=64Mi"))["args"]
    assert {"--inject-cpu=50m", "--inject-memory=64Mi"} <= set(plain)
    assert not [argument for argument in plain if "ephemeral" in argument]
    assert {"--inject-memory=128Mi", "--inject-ephemeral-storage=64Mi"} <= set(chosen)


def test_a_digest_is_used_instead_of_a_tag() -> None:
    assert container(render("image.digest=sha256:" + "1" * 64))["image"].endswith("@sha256:" + "1" * 64)


@pytest.mark.parametrize(("keep", "policy"), [("true", "keep"), ("false", None)])
def test_the_crds_stay_when_that_is_wanted(keep: str, policy: str | None) -> None:
    for crd in crds(render(f"crds.keep={keep}")):
        assert crd["metadata"]["annotations"].get("helm.sh/resource-policy") == policy


def test_the_crds_can_be_left_out() -> None:
    assert not [entry for entry in render("crds.enabled=false") if entry["kind"] == "CustomResourceDefinition"]


def test_what_is_generated_in_the_chart_is_as_its_sources_are_now() -> None:
    wanted = chart_files.files()
    assert {name: (CHART / name).read_text() for name in wanted} == wanted, "run: python tools/chart_files.py"
    assert {path.name for path in (CHART / "files" / "crds").iterdir()} == {
        path.name for path in (REPOSITORY / "crds").iterdir()
    }


def test_crds_come_out_of_the_chart_as_they_went_in() -> None:
    sources = [YAML(typ="safe", pure=True).load(path.read_text()) for path in (REPOSITORY / "crds").glob("*.yaml")]
    rendered = {crd["metadata"]["name"]: crd["spec"] for crd in crds(render())}
    assert rendered == {crd["metadata"]["name"]: crd["spec"] for crd in sources}


def test_every_value_is_documented() -> None:
    rows = chart_files.rows((CHART / "values.yaml").read_text())
    documented = {row.split("|")[1].strip() for row in rows}
    values = YAML(typ="safe", pure=True).load((CHART / "values.yaml").read_text())
    undocumented = [path for path in _leaves(values) if not _covered(path, documented)]
    assert undocumented == []


def _leaves(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def _covered(path: str, documented: set[str]) -> bool:
    parts = path.split(".")
    return any(".".join(parts[:length]) in documented for length in range(1, len(parts) + 1))
