"""Process 1 of a node: `python -m tests.cluster.testbed.machine FD CGROUP`, inside `unshare`.

Beyond what init does it gives the node its own view of the control groups, so that containers are made below CGROUP,
and covers the folders that daemons write to by fixed paths. Writes one byte to FD when the node is up.
"""

import ctypes
import os
import subprocess
import sys

from tests.cluster.testbed import cgroups, init

CLONE_NEWCGROUP = 0x02000000
SYSTEM = "system"  # the group of the node's own programs, below the node's
COVERED = ("/var/lib", "/var/log")


def main(ready: int, group: str) -> int:
    """Bring the node up and stay until it is killed."""

    def prepare() -> None:
        _own_cgroups(group)
        _cover()
        os.write(ready, b"1")
        os.close(ready)

    return init.main(["sleep", "infinity"], prepare)


def _own_cgroups(group: str) -> None:
    """Make `group` the root of what the node sees; our own process moves into a leaf, as v2 demands."""
    cgroups.create(group)
    cgroups.join(group)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWCGROUP) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refuses a cgroup namespace")
    leaf = f"{group}/{SYSTEM}"
    cgroups.create(leaf)
    cgroups.join(leaf)
    for tree in cgroups.trees():
        subprocess.run(["umount", "--lazy", tree.point], check=True)
        options = ["-o", tree.options] if tree.options else []
        subprocess.run(["mount", "-t", tree.kind, *options, "cgroup", tree.point], check=True)


def _cover() -> None:
    for folder in COVERED:
        name = folder.strip("/").replace("/", "-")
        upper, work = f"/run/covered/{name}", f"/run/covered/{name}.work"
        os.makedirs(upper)
        os.makedirs(work)
        layers = f"lowerdir={folder},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "-o", layers, "overlay", folder], check=True)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))
