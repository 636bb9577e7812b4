"""One line of the kernel's log, in any of the forms it comes in, and what it says of a GPU, an NVSwitch or memory."""

import re
from typing import NamedTuple

from hedgerow.pci import pci_address
from hedgerow.wire_agent import EVENT_SXID, EVENT_XID

MAX_LINE = 4096
_MAX_MESSAGE = 300

# priority,sequence,microseconds,flags[,more];text (Documentation/ABI/testing/dev-kmsg)
_KMSG = re.compile(r"^(\d+),(\d+),(\d+),[^;]{0,80};(.*)$", re.DOTALL)
# [  123.456789] text, also after what syslog puts before it, and with the name that the journal puts there
_DMESG = re.compile(r"^(?:[^\[\]]{0,200} )?\[\s*(\d+\.\d+)\] (?:kernel: )?(.*)$", re.DOTALL)
# [Sun Feb 23 16:24:18 2025] text (dmesg -T), whose time is of the wall
_DMESG_WALL = re.compile(r"^\[\w{3} \w{3} +\d+ [\d:]{8} \d{4}\] (.*)$", re.DOTALL)
_SYSLOG = re.compile(r"^(?:\w{3} +\d+ [\d:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ kernel: (.*)$", re.DOTALL)

_XID = re.compile(r"^NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]{7,20})\): (\d{1,5})(?:, (.*))?$", re.DOTALL)
_SXID = re.compile(r"^nvidia-nvswitch\d+: SXid \((?:PCI:)?([0-9a-fA-F:.]{7,20})\): (\d{1,5})(?:, (.*))?$", re.DOTALL)
# As nvidia.ko says it while it begins, in its proprietary and its open form.
_DRIVER_LOAD = re.compile(r"^NVRM: loading NVIDIA UNIX ")
_PROCESS = re.compile(r"^pid='?(\d+|<unknown>)'?(?:, name='?([^,']{0,64})'?)?(?:, |$)")
_OOM = re.compile(r"(?:Out of memory|Memory cgroup out of memory): Killed process (\d+) \(([^)]{0,64})\)")


class Record(NamedTuple):
    """A line: what it says and, where it tells, when (seconds of CLOCK_MONOTONIC) and its number."""

    text: str
    seconds: float | None = None
    sequence: int | None = None


class GpuMessage(NamedTuple):
    """An Xid or SXid."""

    kind: str
    pci: str
    code: int
    pid: int | None
    process: str
    message: str


class OomKill(NamedTuple):
    """The kernel ended a process because memory was short."""

    pid: int
    process: str


def record(line: str) -> Record:
    """The line without what its carrier put before it. Whatever it is, it is one line of text: nothing is refused."""
    line = line[:MAX_LINE].rstrip("\r\n")
    match = _KMSG.match(line)
    if match:
        # Lines of "KEY=value" that follow a record of /dev/kmsg are no part of its text.
        return Record(match[4].split("\n", 1)[0], int(match[3][:18]) / 1e6, int(match[2][:18]))
    match = _DMESG.match(line)
    if match:
        return Record(match[2], float(match[1][:18]))
    for pattern in (_DMESG_WALL, _SYSLOG):
        match = pattern.match(line)
        if match:
            return Record(match[1])
    return Record(line)


def gpu_message(text: str) -> GpuMessage | None:
    """The Xid or SXid that a record tells of; None when it tells of none."""
    for kind, pattern in ((EVENT_XID, _XID), (EVENT_SXID, _SXID)):
        match = pattern.match(text)
        if match:
            address = match[1] if match[1].count(":") < 3 else match[1].rstrip(":")
            pci = pci_address(address)
            if not pci:
                return None
            pid, process, message = _who(match[3] or "")
            return GpuMessage(kind, pci, int(match[2]), pid, process, message[:_MAX_MESSAGE].strip())
    return None


def driver_load(text: str) -> bool:
    """Whether a record says that the GPU driver is being loaded: what it said before is over."""
    return _DRIVER_LOAD.match(text) is not None


def oom_kill(text: str) -> OomKill | None:
    """The process that the kernel ended for memory; None when the record is about something else."""
    match = _OOM.search(text)
    return OomKill(int(match[1][:10]), match[2]) if match else None


def _who(message: str) -> tuple[int | None, str, str]:
    match = _PROCESS.match(message)
    if match is None:
        return None, "", message
    pid = int(match[1][:10]) if match[1].isdigit() else None
    process = match[2] or ""
    return pid, "" if process == "<unknown>" else process, message[match.end() :]
