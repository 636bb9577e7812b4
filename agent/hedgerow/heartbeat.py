"""The rank's side of the heartbeat file: a beat is two stores into a mapped page, without a system call."""

from __future__ import annotations

import mmap
import os
import time
from typing import Any, Callable, Dict, Optional

from hedgerow import environment
from hedgerow.phases import PHASE_OTHER, PHASE_STEP
from hedgerow.record import (
    COUNT,
    COUNT_OFFSET,
    ENTRY,
    MAGIC,
    NAME_BYTES,
    NAME_LIMIT,
    NAMES_OFFSET,
    NO_STEP,
    PID,
    PID_OFFSET,
    RING_LENGTH,
    RING_OFFSET,
    SIZE,
    SOURCE_LIBRARY,
    SOURCE_TORCH,
    packed_name,
    phase_names,
)
from hedgerow.values import ValueTable

_ENTRY_BYTES = ENTRY.size


class Writer:
    """The one writer of a heartbeat file. Of two threads that beat at the same moment one may be lost."""

    __slots__ = ("_buffer", "_count", "_phase", "_phases", "_step", "values")

    def __init__(self, buffer: Any) -> None:
        self._buffer = buffer
        # A process that takes over from a dead one, or from itself before an exec, goes on where that ended.
        self._phases: Dict[str, int] = {name: number for number, name in enumerate(phase_names(buffer))}
        self._count = COUNT.unpack_from(buffer, COUNT_OFFSET)[0]
        self._step: Optional[int] = None
        self._phase: Optional[str] = None
        self.values = ValueTable(buffer)

    def beat(
        self,
        step: Optional[int],
        phase: Optional[str],
        source: int = SOURCE_LIBRARY,
        # Bound here, because a look-up in a module costs as much as the store itself.
        now: Any = time.monotonic_ns,
        pack_entry: Any = ENTRY.pack_into,
        pack_count: Any = COUNT.pack_into,
    ) -> None:
        """Note a boundary if ``step`` or ``phase`` differs from the beat before."""
        if phase is None:
            phase = PHASE_STEP
            if step is None:
                step = 1 if self._step is None else self._step + 1
        elif step is None:
            step = self._step
        if step == self._step and phase == self._phase:
            return
        number = self._phases.get(phase)
        if number is None:
            number = self._add_phase(phase)
        count = self._count
        offset = RING_OFFSET + count % RING_LENGTH * _ENTRY_BYTES
        pack_entry(self._buffer, offset, count, now(), NO_STEP if step is None else step, number, source)
        self._count = count = count + 1
        pack_count(self._buffer, COUNT_OFFSET, count)
        self._step = step
        self._phase = phase

    def _add_phase(self, phase: str) -> int:
        if len(self._phases) >= NAME_LIMIT - 1 and phase != PHASE_OTHER:
            return self._phases.get(PHASE_OTHER) or self._add_phase(PHASE_OTHER)
        number = len(self._phases)
        offset = NAMES_OFFSET + number * NAME_BYTES
        self._buffer[offset : offset + NAME_BYTES] = packed_name(phase)
        self._phases[phase] = number
        return number


Write = Callable[[Optional[int], Optional[str]], None]


def _nothing(step: Optional[int], phase: Optional[str]) -> None:
    """Nobody reads here."""


# Python 3.7 wants the annotated names before the functions that change them.
_write: Write = _nothing
_writer: Optional[Writer] = None
_opened = False
_library_beats = False
_torch_counts = os.environ.get(environment.HEARTBEAT_SOURCE, environment.SOURCE_AUTO) in environment.TORCH_SOURCES


def _first_beat(step: Optional[int], phase: Optional[str]) -> None:
    """The script beats by itself: from now on the injected hook is silent."""
    global _write, _library_beats
    _library_beats = True
    _write = _nothing
    writer = _opened_writer()
    if writer is not None:
        _write = writer.beat
        _write(step, phase)


def beat(step: Optional[int] = None, phase: Optional[str] = None, **values: Any) -> None:
    """Say that this rank made progress: it reached ``step``, or began ``phase``.

    ``beat(step=n)`` begins step n; ``beat(phase="eval")`` begins a phase and keeps the step; ``beat()`` begins the
    step after the last. Repeating the same step and phase is no progress. Names of phases are cut at 31 bytes.
    ``values`` are noted as by :func:`note`. Costs about a microsecond, nothing outside ``hedgerow run``, and never
    raises.
    """
    # Whatever goes wrong here is our trouble and never the training script's.
    try:
        _write(step, phase)
        if values:
            note(**values)
    except Exception:  # noqa: BLE001
        pass


def note(**values: Any) -> None:
    """Tell numbers, such as ``note(loss=…, grad_norm=…)``, without saying that there was progress.

    The newest of each name counts; up to 32 names of at most 31 bytes. A tensor is turned into a number here, which
    waits for the GPU; pass what the script has as a number already. Never raises.
    """
    try:
        writer = _opened_writer()
        if writer is not None:
            for name, value in values.items():
                writer.values.note(name, value)
    except Exception:  # noqa: BLE001 (as above)
        pass


def beat_from_torch(step: int) -> None:
    """Progress seen by the injected optimizer hook; silent once the script beats by itself, or when it alone counts."""
    if _library_beats or not _torch_counts:
        return
    try:
        writer = _opened_writer()
        if writer is not None:
            writer.beat(step, PHASE_STEP, SOURCE_TORCH)
    except Exception:  # noqa: BLE001 (as above)
        pass


def resume_from() -> Optional[str]:
    """Path of the checkpoint that this attempt is to resume from; None: start from the beginning."""
    return os.environ.get(environment.RESUME_FROM) or None


def attempt() -> int:
    """Number of this attempt, from 1; 0 outside ``hedgerow run``."""
    value = os.environ.get(environment.ATTEMPT, "")
    return int(value) if value.isdigit() else 0


def _opened_writer() -> Optional[Writer]:
    """The writer of this process; None when another process of the rank writes, or there is no file."""
    global _writer, _opened
    if _opened:
        return _writer
    _opened = True
    path = _path()
    if not path:
        return None
    with open(path, "r+b") as file:
        buffer = mmap.mmap(file.fileno(), SIZE)
    if buffer[: len(MAGIC)] == MAGIC and _claim(buffer):
        _writer = Writer(buffer)
        os.register_at_fork(after_in_child=_forget)
    return _writer


def _path() -> str:
    """The file of this rank; empty outside of a rank. Where torchrun starts the ranks, it says which one this is."""
    folder, rank = os.environ.get(environment.RANKS), os.environ.get("RANK", "")
    if folder and rank.isdigit():
        return os.path.join(folder, "rank-" + rank, "heartbeat")
    return os.environ.get(environment.HEARTBEAT, "")


def _claim(buffer: Any) -> bool:
    """One process a rank writes: the first that beats, or its successor. Helpers of a rank inherit the variable."""
    owner = PID.unpack_from(buffer, PID_OFFSET)[0]
    if owner and owner != os.getpid() and _alive(owner):
        return False
    PID.pack_into(buffer, PID_OFFSET, os.getpid())
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _forget() -> None:
    """A forked child is not the rank."""
    global _writer, _write
    _writer = None
    _write = _nothing


if environment.HEARTBEAT in os.environ or environment.RANKS in os.environ:
    # The file is looked for at the first beat, so that importing costs nothing.
    _write = _first_beat
