"""The node agent as the chart runs it."""

from __future__ import annotations

from typing import Any

from hedgerow_agent.options import parse
from hedgerow_operator.api.labels import TOKEN_AUDIENCE
from hedgerow_operator.main import main
from tests.chart.rendering import only, render

ON = "agent.enabled=true"


def pod(*settings: str) -> dict[str, Any]:
    return dict(only(render(ON, *settings), "DaemonSet")["spec"]["template"]["spec"])


def arguments(objects: list[dict[str, Any]]) -> list[str]:
    (operator,) = only(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    return list(operator["args"])


def test_nothing_privileged_runs_unless_it_is_asked_for() -> None:
    assert not [entry for entry in render() if entry["kind"] == "DaemonSet"]
    assert not [argument for argument in arguments(render()) if "agent" in argument]


def test_the_agent_understands_every_argument_that_it_is_given() -> None:
    (agent,) = pod("agent.checkpointPaths={/data,/scratch}")["containers"]
    options = parse(agent["args"])
    assert options.report_url == "http://hedgerow.hedgerow-system.svc:8080"
    assert options.checkpoint_paths == ("/data", "/scratch")
    assert options.metrics_address == ":9500"
    assert options.devices == "nvml"


def test_the_operator_believes_the_service_account_that_the_agents_have() -> None:
    for settings in ((), ("agent.serviceAccount.create=false", "agent.serviceAccount.name=mine")):
        objects = render(ON, *settings)
        account = only(objects, "DaemonSet")["spec"]["template"]["spec"]["serviceAccountName"]
        assert f"--agent-service-account=hedgerow-system/{account}" in arguments(objects)


def test_the_operator_understands_the_times_of_nodes() -> None:
    given = {argument.partition("=")[0] for argument in arguments(render(ON, "agent.quarantineSeconds=60"))}
    assert "--quarantine-seconds" in given
    assert given <= {name for option in main.params for name in option.opts}


def test_the_operator_understands_what_to_do_to_nodes() -> None:
    given = {argument.partition("=")[0] for argument in arguments(render(ON, "nodeAction=Taint"))}
    assert {"--node-action", "--node-action-max-percent", "--node-action-expiry-seconds"} <= given
    assert given <= {name for option in main.params for name in option.opts}
    assert not [argument for argument in arguments(render(ON)) if argument.startswith("--node-action")]


def test_its_token_is_bound_to_its_pod_and_for_us_only() -> None:
    spec = pod()
    volume = next(entry for entry in spec["volumes"] if entry["name"] == "token")
    (source,) = volume["projected"]["sources"]
    (agent,) = spec["containers"]
    assert spec["automountServiceAccountToken"] is False
    assert source["serviceAccountToken"]["audience"] == TOKEN_AUDIENCE
    assert parse(agent["args"]).token_file == "/var/run/secrets/hedgerow/token"


def test_it_knows_its_node_by_the_name_that_the_cluster_gives_it() -> None:
    (agent,) = pod()["containers"]
    assert {"name": "HEDGEROW_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}} in agent["env"]


def test_the_kernels_log_is_mounted_where_it_is_read() -> None:
    def volumes(*settings: str) -> set[str]:
        return {entry["name"] for entry in pod(*settings)["volumes"]}

    assert "kmsg" in volumes()
    assert "kmsg" not in volumes("agent.kernelLog=none")
    assert "kmsg" not in volumes("agent.devices=fake:/fake/gpus.yaml")


def test_the_account_of_the_agents_has_no_rights() -> None:
    objects = render(ON)
    bound = [subject["name"] for entry in objects if entry["kind"].endswith("Binding") for subject in entry["subjects"]]
    assert only(objects, "ServiceAccount", name="hedgerow-agent")
    assert "hedgerow-agent" not in bound


def test_reports_do_not_go_to_agents() -> None:
    objects = render(ON)
    agents = only(objects, "DaemonSet")["spec"]["template"]["metadata"]["labels"]
    selector = only(objects, "Service")["spec"]["selector"]
    assert not selector.items() <= agents.items()
