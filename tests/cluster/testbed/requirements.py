"""What the cluster needs of the machine, and sentences about what is missing."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.cluster.testbed.paths import cache

APT_PACKAGES = (
    "buildah",
    "busybox-static",
    "containernetworking-plugins",
    "debootstrap",
    "gcc",
    "iproute2",
    "iptables",
    "musl-tools",
    "openssl",
    "runc",
    "util-linux",
)
PROGRAMS = {
    "buildah": "buildah",
    "busybox": "busybox-static",
    "/usr/lib/cni/ptp": "containernetworking-plugins",
    "debootstrap": "debootstrap",
    "gcc": "gcc",
    "ip": "iproute2",
    "iptables": "iptables",
    "musl-gcc": "musl-tools",
    "openssl": "openssl",
    "runc": "runc",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
ISOLATE = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")

# For programs that mount things while they build: what they leave when they are killed goes with them.
OWN_MOUNTS = ("unshare", "--mount", "--")


def missing() -> list[str]:
    """One sentence for each thing that the cluster needs and this machine lacks; empty when all is there."""
    if os.geteuid() != 0:
        return ["The test cluster needs root (it makes network, mount and process namespaces): run this as root."]
    packages = sorted({package for program, package in PROGRAMS.items() if not shutil.which(program)})
    if packages:
        return [f"The test cluster needs Debian packages that are not installed: apt-get install {' '.join(packages)}."]
    return [sentence for works, sentence in _KERNEL if not works()]


def _inside(script: str) -> bool:
    """Whether a shell script succeeds in namespaces like the cluster's."""
    command = [*ISOLATE, "sh", "-ec", script]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _overlay_works(place: str | Path) -> bool:
    with tempfile.TemporaryDirectory(dir=place, prefix="hedgerow-overlay-") as folder:
        return _inside(
            f"cd {folder}; mkdir lower upper work merged; "
            "mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged; umount merged"
        )


def _iptables_works() -> bool:
    return _inside(
        "mount -t tmpfs tmpfs /run; iptables -t nat -A OUTPUT -p tcp -m comment --comment x "
        "-m statistic --mode random --probability 0.5 -j DNAT --to-destination 127.0.0.1:1"
    )


def _cgroups_work() -> bool:
    return os.access("/sys/fs/cgroup", os.W_OK) and (
        os.path.exists("/sys/fs/cgroup/cgroup.controllers") or os.path.isdir("/sys/fs/cgroup/pids")
    )


_KERNEL: tuple[tuple[Callable[[], bool], str], ...] = (
    (
        lambda: _inside("true"),
        "The test cluster needs network, mount and process namespaces, and this machine refuses `unshare --net --mount"
        " --pid`: run it outside a container, or in one with CAP_SYS_ADMIN.",
    ),
    (
        lambda: _inside("ip link add end1 type veth peer name end2"),
        "The test cluster needs virtual Ethernet pairs, and this kernel has none: load the module veth.",
    ),
    (
        lambda: _overlay_works(tempfile.gettempdir()),
        f"The test cluster needs overlayfs with its upper folder in {tempfile.gettempdir()}, and mounting that failed:"
        " load the module overlay, or set TMPDIR to a folder on ext4 or xfs.",
    ),
    (
        lambda: _overlay_works(cache()),
        f"The test cluster keeps images in {cache()}, and mounting an overlayfs there failed: set HEDGEROW_CACHE to a"
        " folder on ext4 or xfs.",
    ),
    (
        _iptables_works,
        "The test cluster needs iptables with NAT and the matches comment and statistic, and this kernel refuses them:"
        " load the modules iptable_nat, xt_comment and xt_statistic.",
    ),
    (
        _cgroups_work,
        "The test cluster needs a writable /sys/fs/cgroup (v2, or v1 with the pids controller), and there is none.",
    ),
)
