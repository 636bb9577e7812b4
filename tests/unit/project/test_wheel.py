"""The wheel holds what an installation needs, and nothing of the development."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The paths in a wheel built from this tree."""
    root = Path(__file__).resolve().parents[3]
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (wheel,) = target.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize(
    "path",
    [
        "hedgerow_operator/__init__.py",
        "hedgerow_operator/py.typed",
        "hedgerow/__init__.py",
        "hedgerow/wire.py",
        "hedgerow/py.typed",
        "hedgerow_agent/devices/profiles/a100.json",
        "hedgerow_operator/examples/quickstart/train.py",
        "hedgerow_operator/examples/quickstart/trainingjob.yaml",
        "hedgerow_operator/examples/quickstart/inferenceendpoint.yaml",
    ],
)
def test_the_wheel_holds(names: set[str], path: str) -> None:
    assert path in names


def test_the_wheel_holds_every_module_of_the_packages(names: set[str], root: Path) -> None:
    packages = [root / "operator" / "hedgerow_operator", root / "agent" / "hedgerow", root / "agent" / "hedgerow_agent"]
    modules = {str(path.relative_to(folder.parent)) for folder in packages for path in folder.rglob("*.py")}
    assert modules - names == set()


def test_the_wheel_holds_nothing_else(names: set[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in names} == {"hedgerow", "hedgerow_operator", "hedgerow_agent"}


def test_the_wheel_carries_no_compiled_or_test_files(names: set[str]) -> None:
    assert [name for name in names if name.endswith(".pyc") or "/tests/" in name or "__pycache__" in name] == []
