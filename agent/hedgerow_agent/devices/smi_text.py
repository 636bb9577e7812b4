"""The sentences in which nvidia-smi and NVML say that one GPU cannot be reached."""

import re
from typing import NamedTuple

from hedgerow.pci import pci_address

_NO_HANDLE = re.compile(
    r"Unable to determine the device handle for (?:GPU|gpu)\s*([0-9A-Fa-f:.]+):\s*([^\n]+)", re.MULTILINE
)


class Unreachable(NamedTuple):
    """A GPU without a handle. pci: its address in the usual form; words: the driver's own."""

    pci: str
    words: str


def unreachable(text: str) -> list[Unreachable]:
    """Every GPU that the text says has no handle."""
    return [Unreachable(_address(match[1]), match[2].strip()) for match in _NO_HANDLE.finditer(text)]


def _address(text: str) -> str:
    """The address; where it is none, the word itself, so that nothing of what was said is lost."""
    return pci_address(text) or text.lower()
