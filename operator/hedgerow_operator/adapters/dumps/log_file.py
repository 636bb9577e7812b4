"""Reads a log of any size in constant memory, and hands the lines that may matter to the reader of events."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from hedgerow.regular_file import MOST_AT_ONCE, RegularFile, open_regular
from hedgerow_operator.core.attribution.log.event import LogEvent
from hedgerow_operator.core.attribution.log.ras_json import MARK, ras_events
from hedgerow_operator.core.attribution.log.reader import ATTENTION, TRIGGERS, LogReader

_BLOCK = 256 * 1024
# A longer line is binary or a dump; it is read in pieces of this length, under one number.
_LONGEST_LINE = 64 * 1024
_HEAD = 1024


class UnreadableError(ValueError):
    """The file cannot be read; the message is one sentence for people."""


def read_log(file: Path) -> tuple[list[LogEvent], int]:
    """The events of a log by line, and how many more there were than are kept. Raises UnreadableError."""
    reader = LogReader()
    attention = 0
    try:
        with open_regular(str(file)) as stream:
            report = _ras_report(stream)
            if report is not None:
                return report, 0
            number = 1
            for block in _blocks(stream):
                if number > attention and not _matters(block):
                    number += block.count(b"\n")
                    continue
                for line in block.split(b"\n"):
                    if _matters(line):
                        attention = number + ATTENTION
                    if number <= attention:
                        _read(reader, line, number)
                    number += 1
                number -= 1  # what follows the last line end begins the next block
    except OSError as error:
        raise UnreadableError(f"{file} cannot be read: {error.strerror or 'unknown error'}") from None
    return reader.finish()


def _ras_report(stream: RegularFile) -> list[LogEvent] | None:
    """The events of a whole report of NCCL RAS as JSON; None where the file is something else, from its start on."""
    head = stream.peek(_HEAD)[:_HEAD]
    if not head.lstrip().startswith(b"{") or MARK.encode() not in head or stream.size > MOST_AT_ONCE:
        return None
    events = ras_events(stream.read().decode("utf-8", "replace"))
    stream.seek(0)
    return events


def _matters(data: bytes) -> bool:
    return any(trigger in data for trigger in TRIGGERS)


def _read(reader: LogReader, line: bytes, number: int) -> None:
    """One line; progress bars put several into one by carriage returns."""
    for part in line.split(b"\r"):
        if part:
            reader.read(part.decode("utf-8", "replace"), number)


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Blocks that end at the end of a line, or within one that is too long."""
    rest = b""
    while piece := stream.read(_BLOCK):
        if piece.count(0) == len(piece):
            continue  # a hole: it holds no line, and may be as long as the disk
        data = rest + piece
        end = data.rfind(b"\n") + 1
        if len(data) - end > _LONGEST_LINE:
            end = len(data)
        rest = data[end:]
        if end:
            yield data[:end]
    if rest:
        yield rest
