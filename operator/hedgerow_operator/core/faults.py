"""What a rank's last words say: a fault of the training script, of the storage, or a consequence of another's end."""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from hedgerow.wire import RankReport
from hedgerow_operator.core.gang import RankView

_EXCEPTION = re.compile(
    r"^(?:Exception|[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Warning|Iteration|Expired|Timeout|Empty|Full))"
    r"(?::\s.*|:)?$"
)
# torch writes it in front of each line of a traceback.
_RANK_PREFIX = re.compile(r"^\[rank\d+\]:\s?")
_DEVICE = re.compile(r"uncorrectable ECC|fallen off the bus|uncorrectable NVLink", re.IGNORECASE)
_CONSEQUENCE = re.compile(
    r"ConnectionResetError|ConnectionRefusedError|ConnectionAbortedError|ConnectionError|BrokenPipeError|EOFError"
    r"|DistBackendError|DistNetworkError|DistStoreError"
    r"|[Cc]onnection (?:was )?(?:closed|reset|refused)|Socket (?:Timeout|closed)|[Bb]roken pipe|NCCL|ProcessGroup|gloo"
    r"|client socket has timed out|store based barrier|[Tt]imed out waiting",
)
_STORAGE = re.compile(
    r"ESTALE|ENOENT|EIO\b|Stale file handle|Input/output error|No such file or directory|Transport endpoint"
    r"|No space left on device|Read-only file system",
)
_MEMORY = re.compile(r"OutOfMemoryError|CUDA out of memory|MemoryError|Cannot allocate memory")
_ADDRESSES = re.compile(r"0x[0-9a-fA-F]+|\bpid \d+|\brank \d+|\[[Rr]ank ?\d+\]", re.IGNORECASE)
_MAX_LENGTH = 200


class FaultKind(StrEnum):
    """APPLICATION: the script's own. STORAGE: an I/O error. DEVICE: broken hardware. CONSEQUENCE: another rank went
    first. NONE: no words.
    """

    APPLICATION = "Application"
    STORAGE = "Storage"
    DEVICE = "Device"
    CONSEQUENCE = "Consequence"
    NONE = "None"


class Fault(Struct, frozen=True, kw_only=True):
    """kind, and text: the exception in one line, without addresses, so that the same fault reads the same."""

    kind: FaultKind
    text: str = ""


def read_fault(tail: Sequence[str]) -> Fault:
    """The fault that the last lines of a rank's output tell of."""
    for line in reversed(tail):
        words = _RANK_PREFIX.sub("", line.strip())
        if _EXCEPTION.match(words):
            return _classify(words)
    return Fault(kind=FaultKind.NONE)


def fault_of(report: RankReport) -> Fault:
    """The fault that ended a rank. An exception ends a process with a code, never by a signal."""
    return Fault(kind=FaultKind.NONE) if report.exit_signal is not None else read_fault(report.output_tail)


def first_exit(ranks: Sequence[RankView], together_seconds: float) -> RankView | None:
    """The failed rank that ended first: the ones after it are usually its victims.

    Exits within ``together_seconds`` of it cannot be told apart by time; then one that speaks of a broken connection
    is a victim of one that does not.
    """
    failed = sorted((rank for rank in ranks if rank.failed), key=lambda rank: -rank.exited_seconds)
    if not failed:
        return None
    close = [rank for rank in failed if rank.exited_seconds >= failed[0].exited_seconds - together_seconds]
    causes = [rank for rank in close if fault_of(rank.report).kind is not FaultKind.CONSEQUENCE]
    return causes[0] if causes else failed[0]


def same_on_all(ranks: Sequence[RankView], expected: int) -> str | None:
    """The application fault that every one of ``expected`` (two or more) ranks ended with, or None."""
    if expected < 2 or len(ranks) < expected or not all(rank.failed for rank in ranks):
        return None
    faults = [fault_of(rank.report) for rank in ranks]
    texts = {fault.text for fault in faults}
    return texts.pop() if len(texts) == 1 and faults[0].kind is FaultKind.APPLICATION else None


def _classify(line: str) -> Fault:
    text = _ADDRESSES.sub("…", line)[:_MAX_LENGTH]
    if _MEMORY.search(line):
        return Fault(kind=FaultKind.APPLICATION, text=text)
    if _CONSEQUENCE.search(line):
        return Fault(kind=FaultKind.CONSEQUENCE, text=text)
    if _DEVICE.search(line):
        return Fault(kind=FaultKind.DEVICE, text=text)
    if _STORAGE.search(line):
        return Fault(kind=FaultKind.STORAGE, text=text)
    if line.startswith("KeyboardInterrupt"):
        return Fault(kind=FaultKind.NONE)
    return Fault(kind=FaultKind.APPLICATION, text=text)
