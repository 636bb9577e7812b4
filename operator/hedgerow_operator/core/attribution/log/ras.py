"""NCCL's RAS report in the text of a log."""

import re
from collections.abc import Iterator

from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent, shortened


class Ras:
    """NCCL's RAS report, as ``ncclras`` prints it: ranks behind in a communicator, and processes that are gone.

    Wordings: src/ras/client_support.cc. It lists the ranks of a count that few have; those may also be ahead.
    """

    _MISMATCH = re.compile(r"^\s*#(\d+-\d+) \([0-9a-fx]+\) (MISMATCH|INCOMPLETE)")
    _WORDS = ("MISMATCH", "INCOMPLETE", "considered dead")
    _COUNT = re.compile(r"^\s*(?:\d+ ranks have|Rank (?P<rank>\d+) has) (?:launched up to operation (?P<at>\d{1,18})"
                        r"|not launched any operations)")  # fmt: skip
    _MEMBER = re.compile(r"^\s*Rank (\d{1,6}) -- GPU")
    _MISSING = re.compile(r"[Tt]he missing ranks?: ([\d, ]+)|^\s*Missing communicator data from")
    _DEAD = re.compile(r"job process(?:es)? (?:is|are) considered dead")
    _PROCESS = re.compile(r"^\s*Process (\d+) on node (\S+) managing GPUs? (\S+)")
    _DIFFERENT = re.compile(r"ranks have different (?:collective|(\w+)) operation counts")

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._communicator: str | None = None
        self._line = 0
        self._op: str | None = None
        self._counts: dict[int, list[int]] = {}
        self._current: int | None = None
        self._missing: list[int] = []
        self._dead = False

    def feed(self, text: str, line: int) -> Iterator[LogEvent]:
        """The event of the communicator before, when the next begins; processes that are gone at once."""
        if self._communicator is None and not self._dead and not any(word in text for word in self._WORDS):
            return
        if found := self._MISMATCH.match(text):
            yield from self.finish()
            self._communicator, self._line = found[1], line
        elif self._DEAD.search(text):
            yield from self.finish()
            self._dead = True
        elif self._dead and (found := self._PROCESS.match(text)):
            yield LogEvent(
                kind=EventKind.NETWORK_ERROR,
                line=line,
                text=shortened(text.strip()),
                details={"dead": True, "process": int(found[1]), "node": found[2], "gpu": found[3]},
            )
        elif self._communicator is not None:
            self._member(text)

    def _member(self, text: str) -> None:
        if found := self._DIFFERENT.search(text):
            self._op = found[1]
        elif found := self._COUNT.match(text):
            self._current = int(found["at"] or 0)
            self._counts.setdefault(self._current, []).extend([int(found["rank"])] if found["rank"] else [])
        elif (found := self._MEMBER.match(text)) and self._current is not None:
            self._counts[self._current].append(int(found[1]))
        elif (found := self._MISSING.search(text)) and found[1]:
            self._missing += [int(number) for number in found[1].replace(",", " ").split()]

    def finish(self) -> Iterator[LogEvent]:
        """The event of the communicator that was read last, if it has one."""
        furthest = max(self._counts, default=0)
        behind = sorted(rank for at, ranks in self._counts.items() if at < furthest for rank in ranks)
        missing = sorted({*behind, *self._missing})
        if self._communicator is not None and (missing or len(self._counts) > 1):
            yield LogEvent(
                kind=EventKind.COLLECTIVE_MISMATCH,
                group=f"#{self._communicator}",
                op=self._op,
                seq=furthest or None,
                line=self._line,
                text=f"#{self._communicator} of NCCL RAS",
                details={"missing": missing, "oneLook": True},
            )
        self._clear()
