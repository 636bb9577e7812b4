"""Facts about this machine: clock that counts suspended time, boot id, addresses, free ports, room for small files."""

from __future__ import annotations

import errno
import os
import random
import socket
import sys
import tempfile
import time
from typing import Dict, List, Optional

from hedgerow import environment

_PORT_RANGE = "/proc/sys/net/ipv4/ip_local_port_range"
_FIRST_EPHEMERAL = 32768  # Linux default, Documentation/networking/ip-sysctl.rst
_LOWEST_PORT = 20000
_PORT_TRIES = 200


def boottime() -> float:
    """Seconds on CLOCK_BOOTTIME: it goes on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def boot_id() -> str:
    """The kernel's id of this boot; empty where there is none."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def outward_address() -> str:
    """The address that this host would speak to others from; no packet is sent to find out."""
    for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((target, 9))
                return str(probe.getsockname()[0])
        except OSError:
            continue
    return "127.0.0.1"


def free_port(wanted: int = 0) -> int:
    """``wanted`` if it can be listened on (or is all we may use), else a free port below the ephemeral range."""
    if wanted and _can_listen(wanted):
        return wanted
    top = _first_ephemeral()
    low = _LOWEST_PORT if top > _LOWEST_PORT + _PORT_TRIES else 1024
    for _try in range(_PORT_TRIES):
        port = random.randrange(low, max(low + 1, top))  # noqa: S311 (no secret)
        if _can_listen(port):
            return port
    return 0


def given_environment() -> Dict[str, str]:
    """The environment that this process was started with, as what it starts would find it without us: Python adds
    LC_CTYPE to its own (PEP 538), and LD_PRELOAD may have been put out of our way.
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
        pairs = [entry.partition(b"=") for entry in entries if b"=" in entry]
        given = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    except OSError:
        given = dict(os.environ)
    if environment.PRELOAD in given:
        given["LD_PRELOAD"] = given.pop(environment.PRELOAD)
    return given


def own_python() -> List[str]:
    """The words that start this Python once more, before a script: with its options, and with its loader where it was
    started by one.
    """
    with open("/proc/self/cmdline", "rb") as file:
        words = [os.fsdecode(word) for word in file.read().split(b"\0")]
    if sys.argv[0] in words[1:]:
        return words[: words.index(sys.argv[0], 1)]
    return [sys.executable] + (["-E"] if sys.flags.ignore_environment else [])


def free_space(preferred: str) -> Optional[str]:
    """A new folder of our own in the first place that can be written to; None when there is no such place."""
    for place in (preferred, os.environ.get("TMPDIR", ""), "/tmp", "/dev/shm", os.getcwd()):  # noqa: S108
        if not place:
            continue
        try:
            return tempfile.mkdtemp(prefix="hedgerow-", dir=place)
        except OSError:
            continue
    return None


def _first_ephemeral() -> int:
    try:
        with open(_PORT_RANGE) as file:
            return int(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return _FIRST_EPHEMERAL


def _can_listen(port: int) -> bool:
    """On every address, IPv6 included where the machine has it, as torch does."""
    for family, every_address in ((socket.AF_INET6, "::"), (socket.AF_INET, "")):
        try:
            with socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                probe.bind((every_address, port))
                probe.listen(1)
                return True
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
    return False
