"""Which GPUs there should be: those of the kernel's driver that this process may open, whatever NVML lists."""

import os
import re

from hedgerow.pci import pci_address
from hedgerow_agent.host.base import names, text

_GPUS = "/proc/driver/nvidia/gpus"
_MODULE = "/sys/module/nvidia"
_MINOR = re.compile(r"^Device Minor:\s+(\d+)", re.MULTILINE)


def addresses(root: str) -> list[str] | None:
    """PCI addresses of GPUs that have a device file here (a container may be given a few of them); None: no driver."""
    if not os.path.isdir(root + _GPUS):
        return None
    return [address for name in names(root, _GPUS) if _has_file(root, name) and (address := pci_address(name))]


def driver_load(root: str) -> str:
    """A word for this load of the kernel module: sysfs gives its folder a new inode each time; empty when none is."""
    try:
        return f"{os.stat(root + _MODULE).st_ino} {(text(root, _MODULE + '/version') or '').strip()}"
    except OSError:
        return ""


def _has_file(root: str, name: str) -> bool:
    match = _MINOR.search(text(root, f"{_GPUS}/{name}/information") or "")
    return match is not None and os.path.exists(f"{root}/dev/nvidia{match[1]}")
