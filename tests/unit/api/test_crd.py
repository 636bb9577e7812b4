"""The checked-in CustomResourceDefinition is the generated one, small, and described throughout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hedgerow_operator.api.crdgen import main, render, training_job_crd
from hedgerow_operator.api.schema import KEPT_OPEN

ROOT = Path(__file__).parents[3]
FILE = ROOT / "crds" / "trainingjobs.hedgerow.dev.yaml"
VERSION = training_job_crd()["spec"]["versions"][0]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]


def nodes(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield at, schema
    for name, entry in schema.get("properties", {}).items():
        yield from nodes(entry, f"{at}.{name}" if at else name)
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield from nodes(schema[name], f"{at}[]")


NODES = dict(nodes(SCHEMA))


def test_the_checked_in_file_is_what_the_structs_say() -> None:
    assert FILE.read_text(encoding="utf-8") == render(training_job_crd())


def test_the_file_fits_into_the_annotation_of_kubectl_apply() -> None:
    assert FILE.stat().st_size < 256 * 1024


def test_a_changed_file_is_found_by_check(tmp_path: Path) -> None:
    runner = CliRunner()
    assert runner.invoke(main, [str(tmp_path)]).exit_code == 0
    assert runner.invoke(main, ["--check", str(tmp_path)]).exit_code == 0
    (tmp_path / FILE.name).write_text("changed")
    result = runner.invoke(main, ["--check", str(tmp_path)])
    assert result.exit_code == 1
    assert "is out of date; run:" in result.output


def test_every_field_is_described() -> None:
    plain = ("metadata", "metadata.name")
    bare = [at for at, node in NODES.items() if not at.endswith("[]") and at not in plain and "description" not in node]
    assert bare == []


def test_every_node_has_one_structural_type() -> None:
    assert {node.get("type") for node in NODES.values()} == {"object", "array", "string", "integer", "boolean"}
    forbidden = {"title", "$ref", "anyOf", "nullable"}
    assert [at for at, node in NODES.items() if forbidden & node.keys()] == []


def test_the_pod_template_keeps_unknown_fields_and_fills_in_none() -> None:
    template = {at: node for at, node in NODES.items() if at.startswith("spec.kubernetes.template")}
    assert all(node[KEPT_OPEN] for node in template.values() if "properties" in node)
    assert [at for at, node in template.items() if "default" in node] == []


def test_nothing_else_keeps_unknown_fields() -> None:
    open_nodes = [at for at, node in NODES.items() if KEPT_OPEN in node]
    assert all(at.startswith("spec.kubernetes.template") for at in open_nodes)


def test_the_status_is_a_subresource_without_defaults() -> None:
    assert VERSION["subresources"] == {"status": {}}
    assert [at for at, node in NODES.items() if at.startswith("status") and "default" in node] == []


DEFAULTS = {
    "spec.masterPort": 0,
    "spec.suspend": False,
    "spec.local.workingDir": ".",
    "spec.heartbeat": {},
    "spec.heartbeat.source": "Auto",
    "spec.checkpoint.verify": "Content",
    "spec.health": {},
    "spec.health.stall": {},
    "spec.health.stall.minSeconds": 10,
    "spec.health.stall.maxSeconds": 1800,
    "spec.health.slowdown": {},
    "spec.health.slowdown.thresholdPercent": 10,
    "spec.health.slowdown.windowSeconds": 60,
    "spec.recovery.mode": "Act",
    "spec.recovery.maxRestarts": 10,
    "spec.recovery.backoff.initialSeconds": 5,
    "spec.recovery.fenceSeconds": 120,
}


@pytest.mark.parametrize(("at", "want"), DEFAULTS.items(), ids=DEFAULTS.keys())
def test_the_default_stands_in_the_schema(at: str, want: object) -> None:
    assert NODES[at]["default"] == want


def test_conditions_are_merged_by_type() -> None:
    conditions = NODES["status.conditions"]
    assert conditions["x-kubernetes-list-type"] == "map"
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]


def test_kubectl_get_says_whether_it_is_fine_and_if_not_why() -> None:
    shown = [column["name"] for column in VERSION["additionalPrinterColumns"] if not column.get("priority")]
    assert shown == ["State", "Reason", "Step", "Ranks", "Restarts", "Checkpoint", "Goodput", "Age"]


def test_every_column_reads_a_field_of_its_type() -> None:
    for column in VERSION["additionalPrinterColumns"]:
        if column["type"] != "date":
            assert NODES[column["jsonPath"].removeprefix(".")]["type"] == column["type"], column
