"""The archive that runs everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from hedgerow import pack


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.pyz", tmp_path / "b.pyz"
    pack.write(str(first))
    assert pack.main([str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()
    assert os.access(first, os.X_OK)


def test_only_python_files_go_in_and_none_is_compressed(tmp_path: Path) -> None:
    pack.write(str(tmp_path / "a.pyz"))
    with zipfile.ZipFile(tmp_path / "a.pyz") as archive:
        members = archive.infolist()
    assert {"__main__.py", "hedgerow/wire.py", "hedgerow/inject/sitecustomize.py"} <= {m.filename for m in members}
    assert all(m.filename.endswith(".py") and m.compress_type == zipfile.ZIP_STORED for m in members)
    assert all(m.filename.startswith(("__main__.py", "hedgerow/")) for m in members)


def test_a_python_like_the_one_that_packed_compiles_nothing_and_any_other_the_sources(tmp_path: Path) -> None:
    pack.write(str(tmp_path / "a.pyz"), compiled=True)
    pack.write(str(tmp_path / "b.pyz"), compiled=True)
    assert (tmp_path / "a.pyz").read_bytes() == (tmp_path / "b.pyz").read_bytes()
    other = tmp_path / "other.pyz"
    with zipfile.ZipFile(tmp_path / "a.pyz") as archive, zipfile.ZipFile(other, "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, b"\0" * 16 if name.endswith(".pyc") else archive.read(name))
    for path, suffix in ((tmp_path / "a.pyz", "wire.pyc"), (other, "wire.py")):
        words = [sys.executable, "-c", "from hedgerow import wire; print(wire.__file__)"]
        done = subprocess.run(words, env={"PYTHONPATH": str(path)}, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == f"{path}/hedgerow/{suffix}"
