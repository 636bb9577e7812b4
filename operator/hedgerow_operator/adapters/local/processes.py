"""Processes of this machine as /proc shows them: who lives, who belongs to which placement."""

import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hedgerow import environment

_PROC = Path("/proc")
_DIGITS = 9
# While a process calls exec, its variables cannot be seen for a moment, which is longer where many want the processor.
_EXEC_SECONDS = 10.0
_EXEC_LOOK_SECONDS = 0.001
# Places of endcode, which is set last in an exec, and of env_start and env_end among the fields of _stat.
_CODE_ENDS = 24
_VARIABLES = slice(47, 49)
# More than Linux gives arguments and variables: read at once, they are one program's.
_MOST_VARIABLES = 8 * 1024 * 1024


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
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else Identity(pid, int(fields[19]))


def is_alive(identity: Identity) -> bool:
    """Whether this very process lives."""
    return identify(identity.pid) == identity


def is_stopped(identity: Identity) -> bool:
    """Whether it was stopped by a signal."""
    fields = _stat(identity.pid)
    return fields is not None and fields[0] == "T" and is_alive(identity)


def wake_ups(identity: Identity) -> int | None:
    """How often its main thread has gone to sleep and woken up so far; None when it is gone or cannot be read."""
    try:
        lines = (_PROC / str(identity.pid) / "status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    counts = [line.split()[1] for line in lines if line.startswith("voluntary_ctxt_switches:")]
    return int(counts[0]) if counts and is_alive(identity) else None


def children(identity: Identity) -> list[Identity]:
    """Live processes that it has started or adopted."""
    found = [(fields, pid) for pid in _pids() if (fields := _stat(pid)) is not None]
    below = [pid for fields, pid in found if fields[0] not in "ZX" and int(fields[1]) == identity.pid]
    return [child for pid in below if (child := identify(pid)) is not None]


def descendants(identity: Identity) -> list[Identity]:
    """Live processes below it, whatever their variables say."""
    parents = {pid: int(fields[1]) for pid in _pids() if (fields := _stat(pid)) is not None}
    below = {identity.pid}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return [child for pid in below - {identity.pid} if (child := identify(pid)) is not None]


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
        except (ProcessLookupError, OverflowError):
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


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the state on, which is the first; starttime is the 20th (proc(5))."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in brackets may hold anything.
    return text[text.rindex(")") + 1 :].split() or None


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
        block = os.fsdecode(_environment_block(_PROC / str(pid), pid))
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in block.split("\0") if "=" in entry)


def _environment_block(folder: Path, pid: int) -> bytes:
    """Raises OSError when the process is gone, another user's, or a thread of the kernel, which has no program."""
    deadline = time.monotonic() + _EXEC_SECONDS
    while not (block := _read_at_once(folder / "environ")) and _has_variables(folder, pid):
        if time.monotonic() >= deadline:
            break
        time.sleep(_EXEC_LOOK_SECONDS)
    return block


def _read_at_once(path: Path) -> bytes:
    with path.open("rb", buffering=0) as file:
        return file.read(_MOST_VARIABLES)


def _has_variables(folder: Path, pid: int) -> bool:
    """Or may have, since its exec is under way (proc(5))."""
    os.readlink(folder / "exe")
    fields = _stat(pid)
    if fields is None or fields[0] in "ZX":
        return False
    begin, end = fields[_VARIABLES]
    return fields[_CODE_ENDS] == "0" or begin != end


def _same_path(one: str | None, other: str | None) -> bool:
    return bool(one) and bool(other) and os.path.realpath(str(one)) == os.path.realpath(str(other))


def _number(variables: dict[str, str], name: str) -> int:
    return whole_number(variables.get(name, "")) or 0


def whole_number(text: str) -> int | None:
    """The number that a text is, None when it is none, or none of ours."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else None
