"""Processes of this machine as /proc shows them: who lives, who belongs to which placement."""

import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from hedgerow import environment

_PROC = Path("/proc")


class Identity(Struct, frozen=True):
    """One process, also after its number was given to another: pid and start time (clock ticks since boot)."""

    pid: int
    start: int


class Member(Struct, frozen=True):
    """One live process of a placement: a rank (or what it started), or a launcher and the shell around it."""

    identity: Identity
    placement: int
    worker: int
    is_rank: bool


def boot_id() -> str:
    """The kernel's id of this boot."""
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def identify(pid: int) -> Identity | None:
    """The process that has this number now; None when it is gone or a zombie."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in brackets may hold anything; state is the first field behind it, starttime the 20th (proc(5)).
    fields = text[text.rindex(")") + 1 :].split()
    return None if fields[0] in "ZX" else Identity(pid, int(fields[19]))


def is_alive(identity: Identity) -> bool:
    """Whether this very process lives."""
    return identify(identity.pid) == identity


def members(uid: str) -> list[Member]:
    """Every live process that carries the job's uid in its environment, launchers and ranks alike."""
    return [member for pid in _pids() if (member := _member(pid, uid)) is not None]


def send_signal(targets: Iterable[Identity], number: signal.Signals) -> None:
    """Signal each target that still lives; never a process that got its number later."""
    for target in targets:
        try:
            descriptor = os.pidfd_open(target.pid)
        except ProcessLookupError:
            continue
        try:
            if is_alive(target):
                signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            continue
        finally:
            os.close(descriptor)


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir(_PROC) if name.isdecimal())


def _member(pid: int, uid: str) -> Member | None:
    try:
        block = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:  # gone, or another user's
        return None
    if f"{environment.JOB_UID}={uid}\0".encode() not in block:
        return None
    variables = dict(entry.split(b"=", 1) for entry in block.split(b"\0") if b"=" in entry)
    if variables.get(environment.JOB_UID.encode()) != uid.encode():
        return None
    identity = identify(pid)
    if identity is None:
        return None
    placement, worker = _number(variables, environment.PLACEMENT), _number(variables, environment.WORKER)
    return Member(identity, placement, worker, is_rank=environment.ATTEMPT.encode() in variables)


def _number(variables: dict[bytes, bytes], name: str) -> int:
    text = variables.get(name.encode(), b"")
    return int(text) if text.isdigit() else 0
