"""Makes a small Python that runs in any image: ``python small_python.py TARGET ARCHIVE``.

TARGET becomes a folder with this machine's own interpreter, its loader, the shared libraries and the compiled modules
of the standard library that ARCHIVE (hedgerow.pyz) imports. Nothing in it is installed: it is started by path,

    TARGET/loader --library-path TARGET/lib TARGET/bin/python3 -I -S ARCHIVE

so an image needs neither Python nor the same C library, nor any file at all. The C library here must be glibc.
"""

from __future__ import annotations

import modulefinder
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

OWN_PACKAGE = "hedgerow"
# What the interpreter imports by itself, or from C where no import statement shows it.
HIDDEN_IMPORTS = (
    "runpy",
    "traceback",
    "threading",
    "_strptime",
    "encodings.ascii",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.utf_8",
)
# Loaded by glibc when a thread ends while the interpreter does.
HIDDEN_LIBRARIES = ("libgcc_s.so.1",)
# Behind imports that the launcher never reaches: interactive helpers, other systems, tests.
UNUSED = ("doctest", "pdb", "pydoc", "test", "tkinter", "unittest", "multiprocessing", "asyncio", "curses", "sqlite3")

# Other people's packages may be missing, as they are in an image without Python.
_IMPORTS = """
import ctypes, importlib, ssl, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] in {*sys.stdlib_module_names, "hedgerow"}:
            raise
"""


class BadBase(Exception):
    """This machine's Python cannot be taken along; the message is one sentence."""


def make(target: Path, archive: Path) -> None:
    """Write the small Python to ``target``, which must not exist, and try it."""
    interpreter = Path(sys.executable).resolve()
    standard_library = target / "lib" / Path(sysconfig.get_path("stdlib")).name
    extensions = standard_library / "lib-dynload"
    extensions.mkdir(parents=True)
    (target / "bin").mkdir()
    binaries = [Path(shutil.copy(interpreter, target / "bin" / "python3"))]
    for name, file in sorted(_modules(archive).items()):
        if file.suffix == ".so":
            binaries.append(Path(shutil.copy(file, extensions)))
        else:
            _compile(name, file, standard_library)
    loader, libraries = _libraries([interpreter, *binaries])
    shutil.copy(loader, target / "loader")
    for library in libraries:
        shutil.copy(library, target / "lib" / library.name)
    _try(target, archive)


def command(python: Path) -> list[str]:
    """How it is started, before the archive's own arguments."""
    start = [python / "loader", "--inhibit-cache", "--library-path", python / "lib", python / "bin" / "python3"]
    return [*map(str, start), "-I", "-S", "-X", "utf8"]


def _modules(archive: Path) -> dict[str, Path]:
    """The files of the standard library that the archive imports, by module."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(archive) as content:
            content.extractall(folder)
        path = [folder, sysconfig.get_path("stdlib"), sysconfig.get_config_var("DESTSHARED")]
        finder = modulefinder.ModuleFinder(path, excludes=UNUSED)
        finder.run_script(str(Path(folder) / OWN_PACKAGE / "__main__.py"))
        for name in (*_launcher_modules(archive), *HIDDEN_IMPORTS):
            finder.import_hook(name)
        found = finder.modules.items()
        files = {name: Path(module.__file__) for name, module in found if module.__file__}
    return {name: file for name, file in files.items() if name.partition(".")[0] not in (OWN_PACKAGE, "__main__")}


def _launcher_modules(archive: Path) -> list[str]:
    """Every module in the archive, apart from those that only the ranks run."""
    with zipfile.ZipFile(archive) as content:
        sources = [name for name in content.namelist() if name.startswith(OWN_PACKAGE) and name.endswith(".py")]
    names = [name[:-3].replace("/", ".") for name in sources]
    return [name.removesuffix(".__init__") for name in names if ".inject." not in name]


def _compile(name: str, source: Path, standard_library: Path) -> None:
    """A module without its source: half the size, and nothing is compiled when a worker starts."""
    parts = name.split(".")
    inside = parts if source.stem == "__init__" else parts[:-1]
    compiled = standard_library.joinpath(*inside) / f"{source.stem}.pyc"
    compiled.parent.mkdir(parents=True, exist_ok=True)
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(source), str(compiled), dfile=f"{name}.py", doraise=True, invalidation_mode=mode)


def _libraries(binaries: Iterable[Path]) -> tuple[Path, set[Path]]:
    """The loader, and every shared library that the binaries need, by the names that they ask for."""
    loader, needed = None, set()
    for binary in binaries:
        for words in _linked(binary):
            if "=>" in words and words[2].startswith("/"):
                needed.add(Path(words[2]))
            elif words[0].startswith("/"):
                loader = Path(words[0])
    if loader is None or not loader.name.startswith("ld-linux"):
        raise BadBase("the base image has no glibc (ld-linux); write one that has, such as python:3.12-slim")
    folders = {library.parent for library in needed}
    hidden = {folder / name for name in HIDDEN_LIBRARIES for folder in folders if (folder / name).exists()}
    return loader, needed | hidden


def _linked(binary: Path) -> Iterator[list[str]]:
    """What ldd says, line by line: NAME => FILE (ADDRESS), or LOADER (ADDRESS)."""
    done = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False)
    if done.returncode != 0 or "not found" in done.stdout:
        raise BadBase(f"ldd {binary} failed: {done.stdout}{done.stderr}")
    yield from (line.split() for line in done.stdout.splitlines())


def _try(target: Path, archive: Path) -> None:
    """Import every module of the archive with it, and run a command, as in an image that has nothing."""
    imports = ["-c", _IMPORTS, str(archive), *_launcher_modules(archive)]
    for arguments in (imports, [str(archive), "run", "--", "/bin/true"]):
        done = subprocess.run([*command(target), *arguments], env={}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BadBase(f"the small Python does not work: {done.stderr}")


def main(arguments: list[str]) -> int:
    """Entry point."""
    try:
        target, archive = map(Path, arguments)
        make(target, archive)
    except (BadBase, ValueError) as error:
        print(f"small_python: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
