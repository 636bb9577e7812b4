"""Reads what faulthandler writes: where a rank's main thread stands."""

import re
from collections.abc import Iterator

from msgspec import Struct

_FRAME = re.compile(
    r'^[^\S\n]+File "(?P<file>[^"\n]*)", line (?P<line>\d{1,9}) in (?P<function>.*?)[^\S\n]*$', re.MULTILINE
)
_MARK = "(most recent call first):"
_THREAD = re.compile(r"^(?:Stack|(?:Current thread|Thread) .*) ?\(most recent call first\):[^\S\n]*$", re.MULTILINE)


class Frame(Struct, frozen=True):
    """One Python frame."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line} in {self.function}"


def place(stack: str | None) -> Frame | None:
    """Where the main thread stands: its innermost frame outside Python's own library, else its innermost.

    Thousands of ranks are read at a time, so nothing is read beyond that frame.
    """
    first = None
    for frame in _main_thread(stack or ""):
        if not _standard(frame["file"]):
            return _frame(frame)
        first = first or frame
    return _frame(first) if first else None


def _main_thread(stack: str) -> Iterator[re.Match[str]]:
    """Frames of the main thread, innermost first. faulthandler writes threads from the newest to the oldest, so the
    main thread is the last one.
    """
    end = len(stack)
    while (mark := stack.rfind(_MARK, 0, end)) >= 0:
        header = _THREAD.match(stack, stack.rfind("\n", 0, mark) + 1)
        if header:
            return _FRAME.finditer(stack, header.end())
        end = mark
    return iter(())


def _frame(match: re.Match[str]) -> Frame:
    return Frame(match["file"], int(match["line"]), match["function"])


def _standard(file: str) -> bool:
    return file.startswith("<") or ("/lib/python" in file and "-packages/" not in file)
