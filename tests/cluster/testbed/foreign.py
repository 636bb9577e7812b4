"""Images that have no Python: an empty one, a Debian, and one whose C library is musl. All run the same program."""

import hashlib
import inspect
import json
import shutil
import tarfile
from pathlib import Path

from tests.cluster.testbed import archives
from tests.cluster.testbed.commands import run
from tests.cluster.testbed.images import ARCHIVE, Image
from tests.cluster.testbed.requirements import OWN_MOUNTS
from tests.cluster.testbed.rootfs import SUITE, UNUSED

SCRATCH_IMAGE = "localhost/scratch:1"
BARE_IMAGE = "localhost/debian-without-python:12"
MUSL_IMAGE = "localhost/musl:1"
PROGRAM = "/train"
_SOURCE = Path(__file__).with_name("train.c")
_MUSL_LOADER = Path("/lib/ld-musl-x86_64.so.1")


def foreign() -> Image:
    """All three in one archive, so that the nodes' store has one layer of links more and not three."""
    recipe = Path(__file__).read_text() + inspect.getsource(archives) + _SOURCE.read_text()
    return Image("localhost/foreign", hashlib.sha256(recipe.encode()).hexdigest()[:12], _write, keep=False)


def _write(folder: Path) -> None:
    made = {SCRATCH_IMAGE: _scratch, BARE_IMAGE: _bare, MUSL_IMAGE: _musl}
    parts = []
    for place, (reference, make) in enumerate(made.items()):
        rootfs, part = folder / f"rootfs-{place}", folder / f"part-{place}" / ARCHIVE
        rootfs.mkdir()
        part.parent.mkdir()
        make(rootfs)
        archives.pack(rootfs, reference, part, (PROGRAM,))
        parts.append(part)
    _join(parts, folder / ARCHIVE)


def _scratch(rootfs: Path) -> None:
    """One static program and nothing else."""
    _compile(rootfs, "-static")


def _bare(rootfs: Path) -> None:
    run([*OWN_MOUNTS, "debootstrap", "--variant=minbase", SUITE, rootfs])
    for name in UNUSED:
        shutil.rmtree(rootfs / name, ignore_errors=True)
    _compile(rootfs, "-static")


def _musl(rootfs: Path) -> None:
    """As Alpine is: busybox, musl's loader, and a program linked with it."""
    for name in ("bin", "lib"):
        (rootfs / name).mkdir()
    shutil.copy(shutil.which("busybox") or "/bin/busybox", rootfs / "bin" / "busybox")
    (rootfs / "bin" / "sh").symlink_to("busybox")
    shutil.copy(_MUSL_LOADER.resolve(), rootfs / "lib" / _MUSL_LOADER.name)
    _compile(rootfs)


def _compile(rootfs: Path, *options: str) -> None:
    run(["musl-gcc", "-O1", *options, "-o", rootfs / PROGRAM.removeprefix("/"), _SOURCE])


def _join(parts: list[Path], target: Path) -> None:
    """One OCI archive with the images of several."""
    manifests, members = [], {}
    for part in parts:
        with tarfile.open(part) as archive:
            index = archive.extractfile("index.json")
            assert index is not None
            manifests += json.load(index)["manifests"]
            archive.extractall(part.parent, filter="data")
        members |= {path.relative_to(part.parent): path for path in part.parent.rglob("*") if path != part}
    index_file = target.with_name("index.json")
    index_file.write_text(json.dumps({"schemaVersion": 2, "manifests": manifests}))
    members[Path("index.json")] = index_file
    with tarfile.open(target, "w") as archive:
        for name, path in members.items():
            if path.is_file():
                archive.add(path, arcname=str(name))
