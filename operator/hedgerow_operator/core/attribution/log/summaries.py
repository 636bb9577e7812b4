"""Reports of several lines: torchrun's summary of failures, and what PyTorch's analysers say."""

import re
from collections.abc import Iterator

from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent, shortened
from hedgerow_operator.core.attribution.log.exits import exit_event

_ROOT = "Root Cause (first observed failure)"
_RANK = re.compile(r"^\s*rank\s*: (\d{1,6}) \(local_rank: \d+\)")
_HOST = re.compile(r"^\s*host\s*: (\S+)")
_EXIT = re.compile(r"^\s*exitcode\s*: (-?\d{1,3})\b")


# TORCH_NCCL_DESYNC_DEBUG=1 (torch/csrc/distributed/c10d/TraceUtils.h). Ranks that "joined but didn't finish" wait too.
_LAGGING = re.compile(r"ranks \[([\d, ]+)\] are the lagging ranks")
_NOT_JOINED = re.compile(r"\[([\d, ]+)\] finished collective #\d+, but didn't join collective #(\d{1,18})")


def desync_event(text: str, line: int) -> LogEvent | None:
    """The ranks that PyTorch's desync report calls missing."""
    found = _LAGGING.search(text) or _NOT_JOINED.search(text)
    if found is None:
        return None
    return LogEvent(
        kind=EventKind.COLLECTIVE_MISMATCH,
        seq=int(found[2]) if found.re is _NOT_JOINED else None,
        line=line,
        text=shortened(text),
        details={"missing": sorted(int(rank) for rank in found[1].replace(",", " ").split())},
    )


class ElasticSummary:
    """torchrun's table of failures, a few lines a rank; the root cause is the first that ended."""

    def __init__(self) -> None:
        self.seen = False
        self._root = False
        self._rank: int | None = None
        self._host: str | None = None

    def feed(self, text: str, line: int) -> Iterator[LogEvent]:
        """The exit, once its code is read."""
        if _ROOT in text:
            self._root = True
        elif found := _HOST.match(text):
            self._host = found[1]
        elif found := _RANK.match(text):
            self._rank = int(found[1])
        elif (found := _EXIT.match(text)) and self._rank is not None:
            details = {"node": self._host} if self._host else {}
            yield exit_event(
                self._rank, int(found[1]), line, text, details | ({"firstObserved": True} if self._root else {})
            )
            self.seen, self._rank, self._host = True, None, None


class Traced:
    """The report of PyTorch's trace analyser about one collective: who is missing, of whom."""

    _START = re.compile(r"Not all ranks joining collective(?:[,:]? sequence number:? ?(\d{1,18}))?")
    _FIELD = re.compile(r"^\s*(group info|collective|missing ranks|expected ranks): (.*)$")
    _NUMBERS = re.compile(r"\d{1,6}")

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._at: int | None = None
        self._text = ""
        self._seq: int | None = None
        self._group: str | None = None
        self._op: str | None = None
        self._missing: list[int] = []

    def feed(self, text: str, line: int) -> Iterator[LogEvent]:
        """The event, once all its lines are read."""
        if found := self._START.search(text):
            yield from self.finish()
            self._at, self._text, self._seq = line, text, int(found[1]) if found[1] else None
        elif self._at is not None and (found := self._FIELD.match(text)):
            name, value = found[1], found[2].strip()
            numbers = sorted({int(number) for number in self._NUMBERS.findall(value)})
            if name == "group info":
                self._group = value.partition(":")[2] or value
            elif name == "collective":
                self._op = value.removeprefix("nccl:")
            elif name == "missing ranks":
                self._missing = numbers
            else:
                yield from self.finish(numbers)

    def finish(self, expected: list[int] | None = None) -> Iterator[LogEvent]:
        """The event that is read so far, if any."""
        if self._at is not None and self._missing:
            yield LogEvent(
                kind=EventKind.COLLECTIVE_MISMATCH,
                group=self._group,
                op=self._op,
                seq=self._seq,
                line=self._at,
                text=shortened(self._text),
                details={"missing": self._missing}
                | ({"joined": sorted(set(expected) - set(self._missing))} if expected else {}),
            )
        self._clear()
