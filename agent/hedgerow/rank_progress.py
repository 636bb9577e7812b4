"""What one rank says of its progress and its numbers, from whichever source counts."""

from __future__ import annotations

import time
from typing import Dict, Optional, Tuple

from hedgerow import environment, record, values
from hedgerow.communication_report import communication_report
from hedgerow.log_progress import LogProgress
from hedgerow.log_reader import RankLog
from hedgerow.progress import Progress
from hedgerow.wire import CommunicationReport

# One line that looks like progress may be chance; where the user says that the log tells it, the first counts.
LINES_UNASKED = 2


class RankProgress:
    """Beats come before lines of output. ``path``: the heartbeat file. source: of ``environment.SOURCES``."""

    def __init__(self, path: str, log: Optional[RankLog], source: str) -> None:
        now = time.monotonic_ns()
        self._record = record.RecordFile(path)
        self._beats = Progress(now)
        self._beats_count = source in environment.LIBRARY_SOURCES
        self._log = log
        self._lines = LogProgress(now)
        self._lines_needed = 1 if source == environment.SOURCE_LOG else LINES_UNASKED
        self.writer_pid: Optional[int] = None

    @property
    def current(self) -> Progress:
        """The progress by the source that counts."""
        return self._lines.progress if self._lines_count else self._beats

    @property
    def bursty(self) -> bool:
        """Whether silence says nothing: lines come in bursts, or are not read any more."""
        if self._log is not None and self._log.blind and not self._beats.boundaries:
            return True
        return self._lines_count and self._lines.bursty

    def look(self) -> bool:
        """Take in what was beaten and printed; True when there was progress."""
        copy = self._record.copy()
        beaten = False
        if copy is not None:
            reading = record.read(copy.buffer, self._beats.boundaries, copy.count_after)
            self.writer_pid = reading.pid
            beaten = self._beats_count and self._beats.fold(reading)
        printed = self._log is not None and self._lines.fold(self._log.take())
        return beaten or (printed and self._lines_count)

    def numbers(self) -> Tuple[Dict[str, float], Dict[str, str]]:
        """The newest value of each name, and those that are not finite as words; what the script says comes first."""
        told = dict(self._lines.values)
        for name, value in self._values().items():
            if not name.startswith(values.OWN_PREFIX):
                told[name] = value.number
        words = {name: values.word(number) for name, number in told.items()}
        finite = {name: number for name, number in told.items() if words[name] is None}
        return finite, {name: word for name, word in words.items() if word is not None}

    def communication(self) -> Optional[CommunicationReport]:
        """Time in collectives as the rank measured it."""
        return communication_report(self._values(), time.monotonic_ns())

    def unread_age(self) -> Optional[float]:
        """Seconds since output came too fast to be read; None: it never did."""
        unread_at = self._log.unread_at if self._log is not None else None
        return None if unread_at is None else max(0.0, time.monotonic() - unread_at)

    def unread_bytes(self) -> int:
        """Output that came too fast to be read."""
        return self._log.unread_bytes if self._log is not None else 0

    def close(self) -> None:
        """Let go of the file."""
        self._record.close()

    def _values(self) -> Dict[str, values.Value]:
        copy = self._record.copy()
        return {} if copy is None else values.read(copy.buffer)

    @property
    def _lines_count(self) -> bool:
        return not self._beats.boundaries and self._lines.progress.boundaries >= self._lines_needed
