"""What the line that an exception ends with tells: whose fault it is."""

import functools
import re
from enum import StrEnum

from msgspec import Struct

_EXCEPTION = re.compile(
    r"^(?:Exception|[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Warning|Iteration|Expired|Timeout|Empty|Full))"
    r"(?::\s.*|:)?$"
)
# torch writes it in front of each line of a traceback.
_RANK_PREFIX = re.compile(r"^\[rank\d+\]:\s?")
DEVICE = re.compile(r"uncorrectable ECC|fallen off the bus|uncorrectable NVLink", re.IGNORECASE)
_CONSEQUENCE = re.compile(
    r"ConnectionResetError|ConnectionRefusedError|ConnectionAbortedError|ConnectionError|BrokenPipeError|EOFError"
    r"|DistBackendError|DistNetworkError|DistStoreError|ChildFailedError|SignalException"
    r"|[Cc]onnection (?:was )?(?:closed|reset|refused)|Socket (?:Timeout|closed)|[Bb]roken pipe|NCCL|ProcessGroup|gloo"
    r"|client socket has timed out|store based barrier|[Tt]imed out waiting",
)
_STORAGE = re.compile(
    r"ESTALE|ENOENT|EIO\b|Stale file handle|Input/output error|No such file or directory|Transport endpoint"
    r"|No space left on device|Read-only file system",
)
MEMORY = re.compile(r"OutOfMemoryError|CUDA out of memory|CUDA error: out of memory|MemoryError|Cannot allocate memory")
_ADDRESSES = re.compile(r"0x[0-9a-fA-F]+|\bpid \d+|\brank \d+|\[[Rr]ank ?\d+\]", re.IGNORECASE)
_MAX_LENGTH = 200
# Thousands of ranks end with the same few lines.
KEPT_LINES = 1024


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


@functools.lru_cache(maxsize=KEPT_LINES)
def exception_in(line: str) -> str | None:
    """The exception that a line of output is, without the prefix of its rank; None if it is no such line."""
    words = _RANK_PREFIX.sub("", line.strip())
    return words if _EXCEPTION.match(words) else None


@functools.lru_cache(maxsize=KEPT_LINES)
def classify(line: str) -> Fault:
    """Whose fault an exception is."""
    text = _ADDRESSES.sub("…", line)[:_MAX_LENGTH]
    if MEMORY.search(line):
        return Fault(kind=FaultKind.APPLICATION, text=text)
    if _CONSEQUENCE.search(line):
        return Fault(kind=FaultKind.CONSEQUENCE, text=text)
    if DEVICE.search(line):
        return Fault(kind=FaultKind.DEVICE, text=text)
    if _STORAGE.search(line):
        return Fault(kind=FaultKind.STORAGE, text=text)
    if line.startswith("KeyboardInterrupt"):
        return Fault(kind=FaultKind.NONE)
    return Fault(kind=FaultKind.APPLICATION, text=text)
