"""What the Linux kernel says of processes: /proc, read without anything that can block on a stuck process."""

from __future__ import annotations

import os
import platform
from typing import Dict, List, NamedTuple, Optional

_TICKS = float(os.sysconf("SC_CLK_TCK"))
# Deeper trees of processes are a loop that was seen while it changed.
_DEEPEST = 64
# Fields of /proc/PID/stat from the state on (proc(5): exit_code is the 52nd, the state the third).
_EXIT_CODE = 49

# The calls that waiting processes are usually in. Numbers: Linux arch/x86/entry/syscalls/syscall_64.tbl and
# include/uapi/asm-generic/unistd.h.
_CALLS_X86_64 = {
    0: "read", 1: "write", 7: "poll", 16: "ioctl", 17: "pread64", 18: "pwrite64", 20: "writev", 23: "select",
    34: "pause", 35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg",
    47: "recvmsg", 61: "wait4", 72: "fcntl", 73: "flock", 74: "fsync", 75: "fdatasync", 128: "rt_sigtimedwait",
    202: "futex", 230: "clock_nanosleep", 232: "epoll_wait", 247: "waitid", 257: "openat", 270: "pselect6",
    271: "ppoll", 281: "epoll_pwait", 288: "accept4",
}  # fmt: skip
_CALLS_GENERIC = {
    22: "epoll_pwait", 25: "fcntl", 29: "ioctl", 32: "flock", 56: "openat", 63: "read", 64: "write", 66: "writev",
    67: "pread64", 68: "pwrite64", 72: "pselect6", 73: "ppoll", 82: "fsync", 83: "fdatasync", 95: "waitid",
    98: "futex", 101: "nanosleep", 115: "clock_nanosleep", 137: "rt_sigtimedwait", 202: "accept", 203: "connect",
    206: "sendto", 207: "recvfrom", 211: "sendmsg", 212: "recvmsg", 242: "accept4", 260: "wait4",
}  # fmt: skip
_CALLS = {"x86_64": _CALLS_X86_64, "aarch64": _CALLS_GENERIC}.get(platform.machine(), {})


class Process(NamedTuple):
    """One line of /proc/PID/stat. cpu_seconds: user + system time, with that of reaped children. start: clock ticks
    from boot to its start, which tells it from others that have had its number.
    """

    pid: int
    state: str
    parent: int
    group: int
    session: int
    cpu_seconds: float
    start: int = 0

    @property
    def started(self) -> float:
        """When it did, by CLOCK_BOOTTIME, seconds."""
        return self.start / _TICKS

    @property
    def alive(self) -> bool:
        """A zombie holds no memory, no GPU and no file: it counts as gone."""
        return self.state not in ("Z", "X")


def processes() -> Dict[int, Process]:
    """Every process that can be seen, by pid."""
    found = (process(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {entry.pid: entry for entry in found if entry is not None}


def process(pid: int) -> Optional[Process]:
    """The process with this pid; None when it is gone."""
    text = _read("/proc/%d/stat" % pid)
    return parse_stat(text) if text else None


def parse_stat(text: str) -> Process:
    """Read /proc/PID/stat, whose second field is a name in brackets that may hold anything."""
    fields = text[text.rindex(")") + 2 :].split()
    ticks = sum(int(value) for value in fields[11:15])
    return Process(
        pid=int(text[: text.index(" ")]),
        state=fields[0],
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        cpu_seconds=ticks / _TICKS,
        start=int(fields[19]),
    )


def environ(pid: int) -> Optional[Dict[str, str]]:
    """The variables that the process was started with; None when it is gone or hidden from us."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return None
    pairs = [entry.partition(b"=") for entry in entries if b"=" in entry]
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def exit_status(target: Process) -> Optional[int]:
    """The status of wait(2) of a process that has ended and that its parent has not asked for yet; None: not known."""
    try:
        # The kernel shows 0 for whatever another user's process ended with.
        if os.stat("/proc/%d" % target.pid).st_uid != os.geteuid():
            return None
    except OSError:
        return None
    text = _read("/proc/%d/stat" % target.pid)
    if not text or not is_same(target, parse_stat(text)) or parse_stat(text).alive:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return int(fields[_EXIT_CODE]) if len(fields) > _EXIT_CODE else None


def is_same(one: Process, other: Optional[Process]) -> bool:
    """Whether both are one process, seen at two moments."""
    return other is not None and (one.pid, one.start) == (other.pid, other.start)


def tree(root: int, table: Dict[int, Process]) -> List[Process]:
    """``root`` and its descendants, as far as they are in ``table``."""
    children: Dict[int, List[int]] = {}
    for entry in table.values():
        children.setdefault(entry.parent, []).append(entry.pid)
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        waiting.extend(children.get(pid, ()))
        if pid in table:
            found.append(table[pid])
    return found


def is_below(target: Process, root: int) -> bool:
    """Whether ``root`` is an ancestor of the process now."""
    entry: Optional[Process] = target
    for _ in range(_DEEPEST):
        if entry is None or entry.parent in (0, root):
            break
        entry = process(entry.parent)
    return entry is not None and entry.parent == root


def wait_channel(pid: int) -> Optional[str]:
    """Kernel symbol or system call that the main thread sleeps in; None while it runs or when it cannot be read."""
    symbol = _read("/proc/%d/wchan" % pid)
    if symbol and symbol != "0":
        return symbol
    call = (_read("/proc/%d/syscall" % pid) or "").split()
    if not call or not call[0].isdigit():
        return None
    return _CALLS.get(int(call[0]), "syscall " + call[0])


def bytes_moved(pid: int) -> Optional[int]:
    """Bytes that the process has read and written so far, by system calls or from disk; None if hidden from us."""
    text = _read("/proc/%d/io" % pid)
    if not text:
        return None
    values = dict(line.split(": ") for line in text.splitlines() if ": " in line)
    return sum(int(values.get(key, 0)) for key in ("rchar", "wchar", "read_bytes"))


def takes_signal(pid: int, number: int) -> bool:
    """Whether the process has its own handler for this signal and none of it is waiting to be delivered."""
    text = _read("/proc/%d/status" % pid) or ""
    masks = dict(line.split(":\t", 1) for line in text.splitlines() if line.startswith(("SigCgt", "SigPnd", "ShdPnd")))
    bit = 1 << (number - 1)
    waiting = int(masks.get("SigPnd", "0"), 16) | int(masks.get("ShdPnd", "0"), 16)
    return bool(int(masks.get("SigCgt", "0"), 16) & bit) and not waiting & bit


def _read(path: str) -> Optional[str]:
    try:
        with open(path, "rb", buffering=0) as file:
            return (file.read(65536) or b"").decode("utf-8", "replace")
    except OSError:
        return None
