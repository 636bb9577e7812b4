"""The testbed's folder: where everything lies, who owns it, and its ports."""

import contextlib
import fcntl
import os
import random
import shutil
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.slurm.testbed.errors import TestbedError

# Below the ports that the kernel gives to connections (ip_local_port_range), so that none is taken between the look and
# the start.
PORTS = range(15000, 32000)
LONGEST_PATH = 75  # a Unix socket's path has at most 107 characters
GPUS = 8
STARTING = Path(tempfile.gettempdir()) / "hedgerow-slurm-starting.lock"
NULL_DEVICE = os.makedev(1, 3)


@dataclass(frozen=True)
class Places:
    """Folders and files of one testbed."""

    root: Path

    def __getattr__(self, name: str) -> Path:
        """etc, log, state, spool, run, dev, jobs: the folder of that name."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.root / name

    @property
    def munge_key(self) -> Path:
        """The key by which processes of this cluster believe each other."""
        return self.root / "munge" / "munge.key"

    @property
    def munge_socket(self) -> Path:
        """Where munged listens."""
        return self.root / "munge-run" / "socket"

    @property
    def jwt_key(self) -> Path:
        """The key that signs tokens for slurmrestd."""
        return self.root / "state" / "jwt.key"

    @property
    def slurm_conf(self) -> Path:
        """The configuration."""
        return self.root / "etc" / "slurm.conf"


def make() -> Places:
    """A new folder that every user may enter, with everything in it that daemons need before they start."""
    root = Path(tempfile.mkdtemp(prefix="slurm-")).resolve()
    if len(str(root)) > LONGEST_PATH:
        root.rmdir()
        raise TestbedError(f"{root} is too long for Unix sockets below it: set TMPDIR to a shorter folder.")
    root.chmod(0o755)
    places = Places(root)
    for name, owner, mode in (
        ("etc", "root", 0o755),
        ("log", "slurm", 0o755),
        ("state", "slurm", 0o700),
        ("spool", "root", 0o755),
        ("dev", "root", 0o755),
        ("jobs", "root", 0o1777),
        ("munge", "munge", 0o700),
        ("munge-run", "munge", 0o755),
    ):
        folder = root / name
        folder.mkdir()
        folder.chmod(mode)
        shutil.chown(folder, owner, owner)
    _key(places.munge_key, 1024, "munge")
    _key(places.jwt_key, 32, "slurm")
    _devices(places.dev)
    return places


def _key(path: Path, size: int, owner: str) -> None:
    path.touch(0o600)
    path.write_bytes(os.urandom(size))
    shutil.chown(path, owner, owner)


def _devices(folder: Path) -> None:
    """Slurm wants a character device for each GPU: null devices will do."""
    try:
        for index in range(GPUS):
            os.mknod(folder / f"gpu{index}", 0o666 | 0o020000, NULL_DEVICE)
            (folder / f"gpu{index}").chmod(0o666)
        (folder / "gpu0").read_bytes()
    except PermissionError:
        raise TestbedError(
            f"The Slurm testbed makes devices in {folder}, and that is refused: set TMPDIR to a folder "
            "on a file system that is not mounted with nodev."
        ) from None


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """While it lasts no other testbed of this machine starts: it would find the same ports free."""
    with STARTING.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def free_ports(count: int) -> list[int]:
    """Ports on which nobody listens here."""
    found: list[int] = []
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise TestbedError(f"There are no {count} free ports from {PORTS.start} to {PORTS.stop - 1}.")
