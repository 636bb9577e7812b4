"""Image stores: containerd's own folders with all images unpacked, made once and shared by every node.

Importing a PyTorch image takes 3 GB and half a minute a node. A store is imported once; a node gets a copy of the two
small databases and symbolic links to the rest, which overlayfs only reads. A store may extend another in the same way,
so that a new operator image costs only its own layers.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.cluster.testbed import init, processes
from tests.cluster.testbed.commands import run
from tests.cluster.testbed.images import Image
from tests.cluster.testbed.locks import exclusive, try_lock
from tests.cluster.testbed.paths import REPOSITORY, cache
from tests.cluster.testbed.progress import step
from tests.cluster.testbed.requirements import ISOLATE
from tests.cluster.testbed.waiting import wait_for

METADATA = "io.containerd.metadata.v1.bolt"
SNAPSHOTS = "io.containerd.snapshotter.v1.overlayfs"
BLOBS = "io.containerd.content.v1.content/blobs/sha256"
KEPT = 6  # stores that stay although nobody uses them


def ensure(programs: Path, images: Iterable[Image]) -> list[Path]:
    """Stores for the images in their order, each extending the one before; the last one holds all of them."""
    chain: list[Path] = []
    key = ""
    for image in images:
        key = hashlib.sha256(f"{key} {image.reference} {image.key}".encode()).hexdigest()[:12]
        folder = cache() / "stores" / key
        with exclusive(folder.with_suffix(".building")):
            if not folder.exists():
                _extend(programs, chain[-1] if chain else None, image, folder)
        os.utime(folder)
        chain.append(folder)
    return chain


def hold(chain: Iterable[Path]) -> list[int]:
    """Keep the stores from being pruned for as long as the returned descriptors are open."""
    descriptors = []
    for folder in chain:
        descriptors.append(os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600))
        fcntl.flock(descriptors[-1], fcntl.LOCK_SH)
    return descriptors


def prune() -> None:
    """Remove the stores that were used longest ago, apart from KEPT ones and those that are held."""
    with exclusive(cache() / "stores" / ".pruning"):
        folders = [path for path in (cache() / "stores").iterdir() if path.is_dir() and not path.name.startswith(".")]
        for folder in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
            descriptor = try_lock(folder / "lock")
            if descriptor is not None:
                shutil.rmtree(folder)
                folder.with_suffix(".building").unlink(missing_ok=True)
                os.close(descriptor)


def derive(parent: Path, target: Path) -> None:
    """Make `target` a containerd root with everything that `parent` has; about a millisecond a layer."""
    for folder in (METADATA, f"{SNAPSHOTS}/snapshots", BLOBS):
        (target / folder).mkdir(parents=True)
    shutil.copy(parent / METADATA / "meta.db", target / METADATA)
    shutil.copy(parent / SNAPSHOTS / "metadata.db", target / SNAPSHOTS)
    for folder in (f"{SNAPSHOTS}/snapshots", BLOBS):
        for entry in (parent / folder).iterdir():
            (target / folder / entry.name).symlink_to(entry.resolve())


def import_command(ctr: Path, socket: Path, archive: Path) -> list[str]:
    """The words that load an OCI archive into the containerd at `socket`, where the kubelet looks for images."""
    return [str(ctr), "-a", str(socket), "-n", "k8s.io", "images", "import", "--local", str(archive)]


def _extend(programs: Path, parent: Path | None, image: Image, folder: Path) -> None:
    archive = image.archive()
    with step(f"unpacking {image.reference} for the nodes"):
        root = folder.with_name(f".{folder.name}")
        shutil.rmtree(root, ignore_errors=True)  # of one that was killed
        root.mkdir()
        try:
            if parent is not None:
                derive(parent, root)
            _import(programs, archive, root)
            root.rename(folder)
        finally:
            shutil.rmtree(root, ignore_errors=True)
    image.drop()


def _import(programs: Path, archive: Path, root: Path) -> None:
    """Import an archive by a containerd that runs only for it."""
    with tempfile.TemporaryDirectory(prefix="hedgerow-import-") as name:
        folder = Path(name)
        address, settings = folder / "containerd.sock", folder / "containerd.toml"
        settings.write_text(
            f'version = 3\nroot = "{root}"\nstate = "{folder}/state"\n'
            'disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.nri.v1.nri",'
            ' "io.containerd.internal.v1.opt"]\n'
            f'[grpc]\naddress = "{address}"\n'
        )
        with (folder / "log").open("wb") as log:
            command = [
                *ISOLATE,
                sys.executable,
                "-m",
                init.__name__,
                "--",
                str(programs / "containerd"),
                "-c",
                str(settings),
            ]
            server = subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for("containerd", lambda: address.is_socket() and processes.accepts(address))
            run(import_command(programs / "ctr", address, archive))
            os.kill(processes.children(server.pid)[0], signal.SIGTERM)
            server.wait(30)
        finally:
            server.kill()
            server.wait()
