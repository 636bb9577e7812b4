"""Processes of this machine as /proc shows them: who lives, who belongs to which placement."""

import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hedgerow import environment

_PROC = Path("/proc")
_DIGITS = 9


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


class ForeignTo(Struct, frozen=True):
    """What tells processes of an earlier job from those of this one. token, checkpoints: what both would write to."""

    uid: str
    namespace: str
    name: str
    token: str
    checkpoints: str | None

    def is_foreign(self, variables: Mapping[str, str]) -> bool:
        """Whether a process with these variables belongs to another job of the same name in the same place."""
        if variables.get(environment.JOB_UID, self.uid) == self.uid:
            return False
        if (variables.get(environment.JOB_NAMESPACE), variables.get(environment.JOB_NAME)) != (
            self.namespace,
            self.name,
        ):
            return False
        return _same_path(variables.get(environment.TOKEN_FILE), self.token) or _same_path(
            variables.get(environment.CHECKPOINT_DIRECTORY), self.checkpoints
        )


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


def strangers(job: ForeignTo) -> list[Identity]:
    """Live processes of a job of this name in this place that has another uid: launchers, or ranks left without."""
    found = [(pid, variables) for pid in _pids() if job.is_foreign(variables := _environment(pid))]
    launchers = [pid for pid, variables in found if environment.ATTEMPT not in variables]
    pids = launchers or [pid for pid, _ in found]
    return [identity for pid in pids if (identity := identify(pid)) is not None]


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
    variables = _environment(pid)
    if variables.get(environment.JOB_UID) != uid:
        return None
    identity = identify(pid)
    if identity is None:
        return None
    placement, worker = _number(variables, environment.PLACEMENT), _number(variables, environment.WORKER)
    return Member(identity, placement, worker, is_rank=environment.ATTEMPT in variables)


def _environment(pid: int) -> dict[str, str]:
    """Variables that a process was started with; none when it is gone or another user's."""
    try:
        block = os.fsdecode((_PROC / str(pid) / "environ").read_bytes())
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in block.split("\0") if "=" in entry)


def _same_path(one: str | None, other: str | None) -> bool:
    return bool(one) and bool(other) and os.path.realpath(str(one)) == os.path.realpath(str(other))


def _number(variables: dict[str, str], name: str) -> int:
    text = variables.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else 0
