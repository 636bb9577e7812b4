"""What the operator is told at its start, and what it says to nonsense."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from hedgerow_operator import logs
from hedgerow_operator.core.nodes.taints import TaintRules
from hedgerow_operator.main import _settings, main
from hedgerow_operator.reconcile.exporters import ExporterRules

GOOD = ["--report-url=http://hedgerow:8080", "--inject-image=example/hedgerow:1"]


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param([*GOOD, "--report-url=hedgerow:8080"], "--report-url: 'hedgerow:8080' is not", id="no scheme"),
        pytest.param([*GOOD, "--report-url=http://x/v1/reports"], "is not the address of a server", id="with a path"),
        pytest.param([*GOOD, "--inject-image="], "--inject-image: is empty", id="no image"),
        pytest.param(GOOD[:1], "Missing option '--inject-image'", id="an option is missing"),
        pytest.param([*GOOD, "--node-action=Taint"], "write --agent-service-account or", id="taints without agents"),
        pytest.param(
            [*GOOD, "--agent-service-account=ns/agent", "--dcgm-exporter-namespace=gpu-operator"],
            "leave out one of --dcgm-exporter-namespace and --agent-service-account",
            id="agents and exporters",
        ),
        pytest.param([*GOOD, "--node-action=Drain"], "'Drain' is not one of", id="an unknown action on nodes"),
        pytest.param([*GOOD, "--listen-port=0"], "not in the range", id="no port"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(arguments: list[str], sentence: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_without_a_cluster_it_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere/config")
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    result = CliRunner().invoke(main, GOOD)
    assert result.exit_code == 2
    assert "set KUBECONFIG" in result.output


def test_logs_are_json_lines_also_those_of_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("INFO")
    logging.getLogger("some.library").warning("careful with %s", "this")
    logging.getLogger("kopf").info("chatter")
    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["event"], said["level"], said["logger"]) == ("careful with this", "warning", "some.library")


def test_exporters_are_asked_only_where_their_namespace_is_told() -> None:
    for given, expected in (
        ([], None),
        (["--dcgm-exporter-port=9401"], None),
        (["--dcgm-exporter-namespace=gpu-operator"], ExporterRules(namespace="gpu-operator")),
        (
            ["--dcgm-exporter-namespace=a", "--dcgm-exporter-selector=app=x", "--dcgm-exporter-scrape-seconds=2.5"],
            ExporterRules(namespace="a", selector="app=x", scrape_seconds=2.5),
        ),
    ):
        settings = _settings(main.make_context("hedgerow-operator", [*GOOD, *given]).params)
        assert settings.exporters == expected
        assert settings.hears_nodes is (expected is not None)


def test_nodes_are_tainted_by_the_rules_that_it_is_told() -> None:
    account = "--agent-service-account=ns/agent"
    for given, expected in (
        ([], None),
        (["--node-action=Taint"], TaintRules()),
        (
            ["--node-action=Taint", "--node-action-max-percent=25", "--node-action-expiry-seconds=600"],
            TaintRules(max_percent=25, expiry_seconds=600.0),
        ),
    ):
        context = main.make_context("hedgerow-operator", [*GOOD, account, *given])
        assert _settings(context.params).taint_rules == expected
