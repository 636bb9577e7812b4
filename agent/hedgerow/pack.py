"""Packs this package as one executable archive: ``python -m hedgerow.pack hedgerow.pyz``.

The same sources give the same bytes: names are sorted, times fixed, nothing is compressed (a Python without zlib
can import it), and only Python files go in.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import marshal
import os
import struct
import sys
import zipfile
from types import CodeType
from typing import Dict, List, Optional

PACKAGE = "hedgerow"
_UNCHECKED = 1
# The last version of the format whose bytes do not depend on how often an object is referred to.
_REPRODUCIBLE = 2
_TIME = (1980, 1, 1, 0, 0, 0)
_MAIN = b"import sys\n\nfrom hedgerow.__main__ import main\n\nsys.exit(main(sys.argv[1:]))\n"


def archive_of_this_package() -> Optional[str]:
    """Path of the archive that this code runs from; None when it runs from a folder."""
    path = os.path.abspath(__file__)
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        if os.path.isfile(path):
            return path
    return None


def write(path: str, compiled: bool = False) -> None:
    """Write the archive to ``path``, executable, by rename so that nobody sees half of it.

    compiled: three times the size, for one that lies on a disk. A Python like this one (3.8 or newer) starts it in half
    the time, any other compiles the sources.
    """
    part = "%s.part-%d" % (path, os.getpid())
    with open(part, "wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, content in sorted(_members().items()):
                archive.writestr(zipfile.ZipInfo(name, _TIME), content)
                if compiled:
                    archive.writestr(zipfile.ZipInfo(name + "c", _TIME), _compiled(name, content))
    os.chmod(part, 0o755)  # noqa: S103 (every user of an image runs it)
    os.replace(part, path)


@functools.lru_cache(maxsize=None)
def _compiled(name: str, source: bytes) -> bytes:
    """As in a .pyc file that is never compared with its source (PEP 552)."""
    header = importlib.util.MAGIC_NUMBER + struct.pack("<I", _UNCHECKED) + importlib.util.source_hash(source)
    code = _kept_by_python(name) or compile(source, name, "exec", dont_inherit=True)
    return header + marshal.dumps(code, _REPRODUCIBLE)


def _kept_by_python(name: str) -> Optional[CodeType]:
    """What Python has kept of compiling a file of this package, or keeps now: compiling all takes a tenth of a second.
    None for a file that is only in the archive.
    """
    path = os.path.join(os.path.dirname(_folder()), name)
    if not os.path.isfile(path):
        return None
    code = importlib.machinery.SourceFileLoader(PACKAGE, path).get_code(PACKAGE)
    return None if code is None else _in_file(code, name)


def _in_file(code: CodeType, name: str) -> CodeType:
    """The same code, as compiled from a file of this name."""
    parts = tuple(_in_file(part, name) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename=name, co_consts=parts)


def _folder() -> str:
    return os.path.dirname(os.path.abspath(__file__))


def _members() -> Dict[str, bytes]:
    root = _folder()
    members = {"__main__.py": _MAIN}
    for folder, _folders, names in os.walk(root):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    members[os.path.join(PACKAGE, os.path.relpath(path, root))] = file.read()
    return members


def main(arguments: List[str]) -> int:
    """Entry point of ``python -m hedgerow.pack``."""
    if len(arguments) != 1:
        print("hedgerow: write `python -m hedgerow.pack OUT.pyz`, with the file to make", file=sys.stderr)
        return 2
    write(arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
