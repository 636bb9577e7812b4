"""The images of the nodes: what each is called, what it is made of, and its archive in the cache."""

import hashlib
import inspect
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.testbed import archives, rootfs
from tests.cluster.testbed.locks import exclusive
from tests.cluster.testbed.node_files import PAUSE_IMAGE
from tests.cluster.testbed.paths import cache
from tests.cluster.testbed.progress import step

ARCHIVE = "archive.tar"
PYTHON_IMAGE = "localhost/python:3.11"  # a small Debian that has never heard of Hedgerow
PYTORCH_IMAGE = "localhost/pytorch:1.13"
OPERATOR_IMAGE = "localhost/hedgerow-operator:test"
AGENT_IMAGE = "localhost/hedgerow-agent:test"


@dataclass(frozen=True)
class Image:
    """One image. `key` changes with its ingredients; `write(folder)` makes folder/ARCHIVE, the rest is scratch."""

    reference: str
    key: str
    write: Callable[[Path], None]
    keep: bool = True  # whether the archive stays in the cache once the nodes have it

    def archive(self) -> Path:
        """The archive in the cache; made when missing."""
        path = self._path
        name = path.name.removesuffix(f"-{self.key}.tar")
        with exclusive(path.with_name(f"{name}.lock")):
            if not path.exists():
                with step(f"making the image {self.reference}"):
                    self._make(path, path.with_name(f".{name}"))
        return path

    @property
    def _path(self) -> Path:
        name = self.reference.rpartition("/")[2].replace(":", "-")
        return cache() / "images" / f"{name}-{self.key}.tar"

    def _make(self, path: Path, scratch: Path) -> None:
        shutil.rmtree(scratch, ignore_errors=True)  # of one that was killed
        scratch.mkdir()
        try:
            self.write(scratch)
            (scratch / ARCHIVE).replace(path)
        finally:
            shutil.rmtree(scratch)

    def drop(self) -> None:
        """Remove the archive, unless it is to be kept."""
        if not self.keep:
            # Without the lock: whoever holds it makes another image of this name.
            self._path.unlink(missing_ok=True)


def base() -> tuple[Image, ...]:
    """The images that every node has, apart from Hedgerow's own."""
    return (
        _debian(PAUSE_IMAGE, rootfs.pause, ("/bin/sleep", "2147483647")),
        python(),
        _debian(PYTORCH_IMAGE, rootfs.pytorch, ("python3",), keep=False),
    )


def python() -> Image:
    """The small Debian with Python; also the base of Hedgerow's own images."""
    return _debian(PYTHON_IMAGE, rootfs.debian, ("python3",))


def _debian(reference: str, make: Callable[[Path], None], command: tuple[str, ...], *, keep: bool = True) -> Image:
    def write(folder: Path) -> None:
        rootfs_folder = folder / "rootfs"
        rootfs_folder.mkdir()
        make(rootfs_folder)
        archives.pack(rootfs_folder, reference, folder / ARCHIVE, command)

    recipe = inspect.getsource(rootfs) + inspect.getsource(archives) + reference + " ".join(command)
    return Image(reference, hashlib.sha256(recipe.encode()).hexdigest()[:12], write, keep)
