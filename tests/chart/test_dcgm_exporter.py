"""dcgm-exporters in place of the node agent: nothing more runs on the nodes, and one more right is given."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow_operator.main import main
from hedgerow_operator.rbac import RIGHTS, rules
from tests.chart.rendering import HelmError, only, render

ON = ("agent.enabled=true", "agent.source=DCGMExporter", "agent.dcgmExporter.namespace=gpu-operator")


def arguments(*settings: str) -> dict[str, str]:
    (operator,) = only(render(*settings), "Deployment")["spec"]["template"]["spec"]["containers"]
    return {name: value for name, _, value in (argument.partition("=") for argument in operator["args"])}


def rights(*settings: str) -> list[dict[str, Any]]:
    return [entry for entry in render(*settings) if entry["kind"].startswith(("Role", "ClusterRole"))]


def test_nothing_of_ours_runs_on_the_nodes() -> None:
    objects = render(*ON)
    assert not [entry for entry in objects if entry["kind"] == "DaemonSet"]
    assert not [entry for entry in objects if entry["metadata"]["name"].endswith("-agent")]


def test_the_operator_asks_the_exporters_and_believes_no_agent() -> None:
    given = arguments(*ON, "agent.dcgmExporter.selector=app=nvidia-dcgm-exporter", "agent.dcgmExporter.port=9401")
    assert given["--dcgm-exporter-namespace"] == "gpu-operator"
    assert given["--dcgm-exporter-selector"] == "app=nvidia-dcgm-exporter"
    assert (given["--dcgm-exporter-port"], given["--dcgm-exporter-scrape-seconds"]) == ("9401", "4")
    assert "--agent-service-account" not in given
    assert {"--agent-silent-seconds", "--quarantine-seconds"} <= given.keys()
    assert given.keys() <= {name for option in main.params for name in option.opts}


def test_by_default_no_exporter_is_asked_and_none_may_be_found() -> None:
    for settings in ((), ("agent.enabled=true",), ON[1:]):
        assert not [name for name in arguments(*settings) if "dcgm" in name]
        assert not [entry for entry in rights(*settings) if "exporters" in entry["metadata"]["name"]]


@pytest.mark.parametrize("settings", [(), ("watchNamespaces={research}",)], ids=["everywhere", "one namespace"])
def test_the_operator_may_list_pods_where_the_exporters_are_and_nothing_else_is_added(
    settings: tuple[str, ...],
) -> None:
    more, before = rights(*ON, *settings), rights("agent.enabled=true", *settings)
    added = [entry for entry in more if entry not in before]
    assert [(entry["kind"], entry["metadata"]["namespace"]) for entry in added] == [
        ("Role", "gpu-operator"), ("RoleBinding", "gpu-operator")]  # fmt: skip
    assert added[0]["rules"] == rules(RIGHTS, "exporters")
    assert added[1]["roleRef"]["name"] == added[0]["metadata"]["name"]
    assert [subject["name"] for subject in added[1]["subjects"]] == ["hedgerow"]


def test_whose_pods_are_believed_has_to_be_said() -> None:
    with pytest.raises(HelmError, match=r"set agent\.dcgmExporter\.namespace"):
        render(*ON[:2])


def test_nodes_may_be_tainted_by_what_exporters_say() -> None:
    assert arguments(*ON, "nodeAction=Taint")["--node-action"] == "Taint"
