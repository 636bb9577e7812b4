"""The images of the nodes: what each is called, what it is made of, and its archive in the cache."""

import hashlib
import inspect
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.testbed import archives, rootfs
from tests.cluster.testbed.locks import exclusive
from tests.cluster.testbed.node_files import PAUSE_IMAGE
from tests.cluster.testbed.paths import cache
from tests.cluster.testbed.progress import step

PYTHON_IMAGE = "localhost/python:3.11"  # a small Debian that has never heard of Hedgerow
PYTORCH_IMAGE = "localhost/pytorch:1.13"
OPERATOR_IMAGE = "localhost/hedgerow-operator:test"


@dataclass(frozen=True)
class Image:
    """One image: `key` changes with its ingredients, `write(path)` makes the OCI archive."""

    reference: str
    key: str
    write: Callable[[Path], None]
    keep: bool = True  # whether the archive stays in the cache once the nodes have it

    def archive(self) -> Path:
        """The OCI archive in the cache; made when missing."""
        name = self.reference.rpartition("/")[2].replace(":", "-")
        path = cache() / "images" / f"{name}-{self.key}.tar"
        with exclusive(path.with_suffix(".lock")):
            if not path.exists():
                with step(f"making the image {self.reference}"):
                    part = path.with_suffix(".part")
                    self.write(part)
                    part.replace(path)
        return path

    def drop(self) -> None:
        """Remove the archive, unless it is to be kept."""
        if not self.keep:
            self.archive().unlink()


def base() -> tuple[Image, ...]:
    """The images that every node has, apart from the operator's own."""
    return (
        _debian(PAUSE_IMAGE, rootfs.pause, ("/bin/sleep", "2147483647")),
        python(),
        _debian(PYTORCH_IMAGE, rootfs.pytorch, ("python3",), keep=False),
    )


def python() -> Image:
    """The small Debian with Python; also the base of the operator's image."""
    return _debian(PYTHON_IMAGE, rootfs.debian, ("python3",))


def _debian(reference: str, make: Callable[[Path], None], command: tuple[str, ...], *, keep: bool = True) -> Image:
    def write(path: Path) -> None:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".rootfs-") as folder:
            target = Path(folder) / "rootfs"
            target.mkdir()
            make(target)
            archives.pack(target, reference, path, command)
            shutil.rmtree(target)

    recipe = inspect.getsource(rootfs) + inspect.getsource(archives) + reference + " ".join(command)
    return Image(reference, hashlib.sha256(recipe.encode()).hexdigest()[:12], write, keep)
