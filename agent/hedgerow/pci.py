"""PCI addresses, which drivers, libraries and exporters write in several forms."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"^(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})(?:\.([0-9a-fA-F]))?$")


def pci_address(text: str) -> str:
    """The address in one form (0000:9b:00.0), whichever of its forms it is written in; empty when it is none."""
    match = _ADDRESS.match(text.strip())
    if match is None:
        return ""
    domain, bus, device, function = (int(part, 16) if part else 0 for part in match.groups())
    return "%04x:%02x:%02x.%x" % (domain, bus, device, function)
