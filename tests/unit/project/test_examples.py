"""The manifests that users copy are accepted, without a field that is ignored."""

import ast
from pathlib import Path

import pytest

from hedgerow_operator.api.manifests import load_manifests
from tests.unit.project.sources import ROOT, files

MANIFESTS = {str(path.relative_to(ROOT)): path for path in files("examples", suffix=".yaml")}


@pytest.mark.parametrize("path", MANIFESTS.values(), ids=MANIFESTS)
def test_the_manifest_is_accepted(path: Path) -> None:
    found = load_manifests(str(path))
    assert [str(error) for error in found.errors] == []
    assert len(found.jobs) + len(found.endpoints) == 1


def test_each_example_runs_on_this_machine_and_on_kubernetes() -> None:
    folders = {path.parent for path in MANIFESTS.values()}
    expected = {folder / name for folder in folders for name in ("trainingjob.yaml", "trainingjob-kubernetes.yaml")}
    assert expected - set(MANIFESTS.values()) == set()


def test_no_module_of_the_pytorch_example_imports_hedgerow() -> None:
    trees = [ast.parse(path.read_text()) for path in files("examples/pytorch-ddp", suffix=".py")]
    assert trees
    nodes = [node for tree in trees for node in ast.walk(tree)]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    assert {name for name in imported if name.split(".")[0] == "hedgerow"} == set()
