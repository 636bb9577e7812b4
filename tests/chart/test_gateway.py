"""The gateways of the chart: a workload of its own, with rights of its own and a volume for what must not be lost."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.gateway.main import main as gateway
from hedgerow_operator.rbac import RIGHTS, rules
from tests.chart.rendering import HelmError, only, render
from tests.chart.test_rights import pairs

ON = "gateway.enabled=true"
NAME = "hedgerow-gateway"


def container(*settings: str) -> dict[str, Any]:
    (found,) = only(render(ON, *settings), "StatefulSet")["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_without_it_nothing_of_it_is_there() -> None:
    objects = render()
    assert [entry for entry in objects if entry["metadata"]["name"].startswith(NAME)] == []
    arguments = only(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert [word for word in arguments if "gateway" in word] == []


def test_its_arguments_are_options_that_the_program_has() -> None:
    known = {option for parameter in gateway.params for option in parameter.opts}
    found = container("gateway.replicas=2", "gateway.allowedNetworks={10.0.0.0/8}", "watchNamespaces={a}")
    assert {word.partition("=")[0] for word in found["args"]} <= known
    assert found["command"] == ["hedgerow-gateway"]
    assert "--namespace=a" in found["args"]
    assert "--allow-network=10.0.0.0/8" in found["args"]


def test_several_know_each_other_by_name_and_number() -> None:
    found = container("gateway.replicas=2")
    addresses = [f"http://{NAME}-{n}.{NAME}-replicas.hedgerow-system.svc:8080" for n in (0, 1)]
    assert f"--replicas={','.join(addresses)}" in found["args"]
    (variable,) = found["env"]
    assert variable["name"] == "HEDGEROW_GATEWAY_REPLICA"
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.labels['apps.kubernetes.io/pod-index']"
    headless = only(render(ON), "Service", f"{NAME}-replicas")
    assert (headless["spec"]["clusterIP"], headless["spec"]["publishNotReadyAddresses"]) == ("None", True)


def test_one_alone_needs_no_names() -> None:
    assert "env" not in container()
    assert [word for word in container()["args"] if word.startswith("--replica")] == []


def test_each_keeps_its_journal_on_a_volume_of_its_own() -> None:
    found = only(render(ON, "gateway.journal.size=5Gi", "gateway.journal.storageClassName=fast"), "StatefulSet")["spec"]
    (claim,) = found["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"]["storage"] == "5Gi"
    assert claim["spec"]["storageClassName"] == "fast"
    mounts = {one["name"]: one["mountPath"] for one in found["template"]["spec"]["containers"][0]["volumeMounts"]}
    assert f"--state={mounts['journal']}" in found["template"]["spec"]["containers"][0]["args"]


def test_there_is_time_for_requests_their_losers_and_clients_that_look_elsewhere() -> None:
    found = only(render(ON, "gateway.graceSeconds=100"), "StatefulSet")["spec"]["template"]["spec"]
    assert found["terminationGracePeriodSeconds"] > 2 * 100 + 5
    assert "--grace=100" in found["containers"][0]["args"]


def test_clients_reach_its_clients_port_and_nothing_else() -> None:
    service = only(render(ON), "Service", NAME)
    (port,) = service["spec"]["ports"]
    ports = {one["name"]: one["containerPort"] for one in container()["ports"]}
    assert (port["port"], ports[port["targetPort"]]) == (80, 8080)
    assert only(render(ON), "StatefulSet")["spec"]["selector"]["matchLabels"] == service["spec"]["selector"]


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ((), f"http://{NAME}.hedgerow-system.svc"),
        (("gateway.service.port=8000",), f"http://{NAME}.hedgerow-system.svc:8000"),
        (("gateway.url=https://ai.example",), "https://ai.example"),
    ],
    ids=["its Service", "another port", "an ingress"],
)
def test_the_operator_knows_where_clients_reach_it_and_whom_to_believe(settings: tuple[str, ...], url: str) -> None:
    arguments = only(render(ON, *settings), "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert f"--gateway-url={url}" in arguments
    assert f"--gateway-service-account=hedgerow-system/{NAME}" in arguments


def roles_of(account: str, objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The roles that some binding gives to this service account."""
    bound = [
        (entry["roleRef"]["kind"], entry["roleRef"]["name"], entry["metadata"].get("namespace", ""))
        for entry in objects
        if entry["kind"].endswith("Binding") and account in [one["name"] for one in entry["subjects"]]
    ]
    return [only(objects, *role) for role in bound]


@pytest.mark.parametrize("settings", [(), ("watchNamespaces={a,b}",)], ids=["everywhere", "two namespaces"])
def test_it_has_the_rights_of_its_table_and_the_operator_none_on_secrets(settings: tuple[str, ...]) -> None:
    objects = render(ON, *settings)
    own = roles_of(NAME, objects)
    assert len(own) == (2 if settings else 1)
    assert {entry["metadata"].get("namespace") for entry in own} == ({"a", "b"} if settings else {None})
    assert all(pairs(role["rules"]) == pairs(rules(RIGHTS, "gateway")) for role in own)
    operators = {right for role in roles_of("hedgerow", objects) for right in pairs(role["rules"])}
    assert "secrets" not in {resource for _, resource, _ in operators}
    assert pairs(rules(RIGHTS, "endpoints")) <= operators
    assert ("", "pods", "get") in pairs(only(objects, "Role", "hedgerow-home")["rules"])


def test_values_that_cannot_be_are_refused() -> None:
    for setting in ("gateway.replicas=0", "gateway.allowedNetworks={everywhere}", "gateway.url=ai.example/x"):
        with pytest.raises(HelmError, match="gateway"):
            render(ON, setting)
