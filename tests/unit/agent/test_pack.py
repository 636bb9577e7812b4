"""The archive that runs everywhere."""

from __future__ import annotations

import os
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
    assert all(m.filename == "__main__.py" or m.filename.startswith("hedgerow/") for m in members)
