"""Root file systems for images: a small Debian with Python, and the same with PyTorch."""

import shutil
from pathlib import Path

from tests.cluster.testbed.commands import run
from tests.cluster.testbed.requirements import OWN_MOUNTS

SUITE = "bookworm"
BASE_PACKAGES = ("python3", "python3-pip", "python3-venv")
PYTORCH_PACKAGES = ("python3-torch", "python3-numpy")
# Documentation, translations and package lists: half of a minimal Debian, and no container reads them.
UNUSED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "var/lib/apt/lists", "var/cache")


def pause(folder: Path) -> None:
    """What holds a pod's namespaces: one program that sleeps."""
    (folder / "bin").mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "/bin/busybox", folder / "bin" / "busybox")
    (folder / "bin" / "sleep").symlink_to("busybox")


def debian(folder: Path) -> None:
    """Debian with Python 3.11 and pip."""
    _debootstrap(folder)
    _slim(folder)


def pytorch(folder: Path) -> None:
    """The same Debian with Debian's own PyTorch (gloo) and NumPy; about 1.6 GB."""
    _debootstrap(folder)
    shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    run(["chroot", folder, "apt-get", "update", "-q"], environment=quiet)
    install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *PYTORCH_PACKAGES]
    run(["chroot", folder, *install], environment=quiet)
    _slim(folder)


def _debootstrap(folder: Path) -> None:
    included = f"--include={','.join(BASE_PACKAGES)}"
    run([*OWN_MOUNTS, "debootstrap", "--variant=minbase", included, SUITE, folder])


def _slim(folder: Path) -> None:
    for name in UNUSED:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
