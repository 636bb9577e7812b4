"""Hedgerow's launcher: `hedgerow: attempt 2 starts from …`, `hedgerow: rank 3 ended with exit code 1`."""

from __future__ import annotations

from typing import Dict, List, Optional, Set

from hedgerow.logs import launcher_lines as lines
from hedgerow.logs import observation as names
from hedgerow.logs.formats.base import LineFormat
from hedgerow.logs.launcher_lines import LauncherLine
from hedgerow.logs.line import Line
from hedgerow.logs.observation import Observation

_CANNOT_START = 127


class Launcher(LineFormat):
    """Of ranks that end because they are told to, nothing is said. The lines of several workers may be mixed."""

    name = "launcher"
    markers = (lines.PREFIX.encode(),)

    def __init__(self) -> None:
        self._workers: Set[int] = set()
        self._attempt = 0
        self._stopped = False
        self._codes: Dict[int, int] = {}
        self._empty_workers = 0
        self._command_failed = ""

    def read(self, line: Line) -> List[Observation]:
        words = line.words.strip()
        said = lines.parse(words)
        return [] if said is None else self._meaning(line, words, said)

    def _meaning(self, line: Line, words: str, said: LauncherLine) -> List[Observation]:
        if said.template == lines.READY:
            self._workers.add(said.number(0))
        elif said.template == lines.STARTS and said.number(0) > self._attempt:
            self._begin(said.number(0))
            return [self.say(line, ending=names.STARTED, text=words)]
        elif said.template == lines.STOPPED:
            self._stopped = True
            return [self.say(line, ending=names.STOPPED, text=said.fields[1].strip(": "))]
        elif said.template in (lines.ASKED_TO_END, lines.FENCED):
            self._stopped = True
            return [self.say(line, ending=names.CANCELLED, text=words)]
        elif said.template == lines.RANK_ENDED:
            return self._ended(line, words, said.number(0), said.number(1))
        elif said.template == lines.COMMAND_ENDED:
            if said.number(0) and not self._stopped:
                self._command_failed = self._command_failed or words
        elif said.template == lines.CANNOT_START:
            return self._ended(line, words, None, _CANNOT_START)
        elif said.template == lines.ALL_ENDED and said.number(0) == self._attempt:
            return self._empty(line, words)
        return []

    def _begin(self, attempt: int) -> None:
        self._attempt, self._stopped, self._codes, self._empty_workers = attempt, False, {}, 0
        self._command_failed = ""

    def _ended(self, line: Line, words: str, rank: Optional[int], code: int) -> List[Observation]:
        if rank is not None:
            self._codes[rank] = code
        if self._stopped or code == 0:
            return []
        return [self.say(line, ending=names.EXIT, text=words, rank=rank)]

    def _empty(self, line: Line, words: str) -> List[Observation]:
        """Success is what all launchers that speak here say. A command that fails counts where no rank says why."""
        self._empty_workers += 1
        whole = self._empty_workers >= len(self._workers) and not self._stopped
        if self._command_failed and not self._stopped and not any(self._codes.values()):
            failed, self._command_failed, self._stopped = self._command_failed, "", True
            return [self.say(line, ending=names.EXIT, text=failed)]
        if not whole or not self._codes or any(self._codes.values()):
            return []
        return [self.say(line, ending=names.SUCCESS, text=words)]
