"""Reads what faulthandler writes: where a rank's main thread stands."""

import re

from msgspec import Struct

_FRAME = re.compile(r'^\s+File "(?P<file>[^"]*)", line (?P<line>\d+) in (?P<function>.*?)\s*$')
_THREAD = re.compile(r"^(?:Stack|(?:Current thread|Thread) .*) ?\(most recent call first\):\s*$")


class Frame(Struct, frozen=True):
    """One Python frame."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line} in {self.function}"


def main_thread(stack: str) -> tuple[Frame, ...]:
    """Frames of the main thread, innermost first; empty when there are none.

    faulthandler writes threads from the newest to the oldest, so the main thread is the last block.
    """
    blocks: list[list[Frame]] = []
    for line in stack.splitlines():
        if _THREAD.match(line):
            blocks.append([])
            continue
        frame = _FRAME.match(line)
        if frame and blocks:
            blocks[-1].append(Frame(frame["file"], int(frame["line"]), frame["function"]))
    return tuple(blocks[-1]) if blocks else ()


def place(stack: str | None) -> Frame | None:
    """Where the main thread stands: its innermost frame outside Python's own library, else its innermost."""
    frames = main_thread(stack) if stack else ()
    return next((frame for frame in frames if not _standard(frame.file)), frames[0] if frames else None)


def _standard(file: str) -> bool:
    return file.startswith("<") or ("/lib/python" in file and "-packages/" not in file)
