"""The Python that comes with the launcher runs it whatever the image's environment says, and leaves that as it is."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from hedgerow import pack
from hedgerow_operator.build.injection import LAUNCHER
from tests.unit.project.sources import ROOT

MAKE = (sys.executable, str(ROOT / "operator" / "image" / "small_python.py"))
OURS = ("HEDGEROW_", "TORCH_", "RANK", "LOCAL_", "GROUP_RANK", "WORLD_SIZE", "MASTER_", "PYTHONUNBUFFERED")


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the init container copies: the archive, and its Python."""
    folder = tmp_path_factory.mktemp("launcher")
    pack.write(str(folder / "hedgerow.pyz"))
    subprocess.run([*MAKE, folder / "python", folder / "hedgerow.pyz"], check=True)
    return folder


def run(launcher: Path, environment: Mapping[str, str], *command: str) -> str:
    """What the command prints as the only rank, started as in a pod."""
    start = [word.replace("/hedgerow/", f"{launcher}/") for word in LAUNCHER]
    done = subprocess.run([*start, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(launcher: Path) -> list[str]:
    """The small Python, as the launcher is started with it."""
    return [word.replace("/hedgerow/", f"{launcher}/") for word in LAUNCHER[: LAUNCHER.index("utf8") + 1]]


def hostile(folder: Path) -> dict[str, str]:
    """An image's environment that would break any Python that heeds it."""
    (folder / "json.py").write_text("raise SystemExit('the json of the image')\n")
    return {"LANG": "C", "PYTHONHOME": str(folder), "PYTHONPATH": str(folder), "LD_LIBRARY_PATH": str(folder)}


def test_the_command_finds_the_environment_of_its_image_and_nothing_of_our_python(
    launcher: Path, tmp_path: Path
) -> None:
    given = hostile(tmp_path)
    lines = run(launcher, given, "/usr/bin/env").splitlines()
    found = dict(line.split("=", 1) for line in lines if not line.startswith(OURS))
    assert found.pop("PYTHONPATH").endswith(f"hedgerow.pyz:{given.pop('PYTHONPATH')}")
    assert found == given


def test_a_library_that_the_image_preloads_reaches_the_command_only(launcher: Path) -> None:
    lines = run(launcher, {"HEDGEROW_LD_PRELOAD": "/nonexistent.so"}, "/usr/bin/env").splitlines()
    assert "LD_PRELOAD=/nonexistent.so" in lines
    assert not [line for line in lines if line.startswith("HEDGEROW_LD_PRELOAD")]


def test_a_script_on_the_images_python_has_the_rank_library_and_its_own_start_up_code(
    launcher: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('start-up code of the image')\n")
    script = "import hedgerow; hedgerow.beat(1); print(hedgerow.__file__)"
    told = run(launcher, {"PYTHONPATH": str(tmp_path)}, sys.executable, "-c", script)
    assert told.splitlines() == ["start-up code of the image", f"{launcher}/hedgerow.pyz/hedgerow/__init__.py"]


def test_the_process_that_reads_by_a_log_pattern_runs_on_it_too(launcher: Path) -> None:
    archive = str(launcher / "hedgerow.pyz")
    read = "PatternProcess('(?P<step>[0-9]+)', sys.argv[1]).stream().feed(b'7 of 9\\n')"
    script = f"import sys; sys.path.insert(0, sys.argv[1]); from hedgerow.pattern_process import *; print({read})"
    done = subprocess.run([*python(launcher), "-c", script, archive], env={}, capture_output=True, text=True)
    assert "step=7" in done.stdout, done.stderr


def test_it_needs_no_library_from_outside(launcher: Path) -> None:
    files = "set(re.findall('/\\\\S+[.]so\\\\S*', open('/proc/self/maps').read()))"
    script = f"import re, ssl, ctypes, socket; print(*sorted({files}))"
    done = subprocess.run([*python(launcher), "-c", script], capture_output=True, text=True)
    assert done.stdout.split(), done.stderr
    assert [path for path in done.stdout.split() if not path.startswith(str(launcher))] == []


def test_every_user_of_an_image_may_read_it(launcher: Path) -> None:
    closed = [path for path in launcher.rglob("*") if path.stat().st_mode & 0o004 == 0]
    assert closed == []
    assert os.access(launcher / "python" / "loader", os.X_OK)


def test_an_archive_that_does_not_run_makes_no_image(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.pyz", "w") as archive:
        archive.writestr("hedgerow/__init__.py", "")
        archive.writestr("hedgerow/__main__.py", "raise ValueError('broken')\n")
    command = [*MAKE, str(tmp_path / "python"), str(tmp_path / "bad.pyz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("small_python: the small Python does not work: ")
