"""Reads the lines of a log one by one, in constant memory, and collects what they tell."""

from collections.abc import Iterator

from hedgerow_operator.core.attribution.log.collector import Collector
from hedgerow_operator.core.attribution.log.crashes import crash_event
from hedgerow_operator.core.attribution.log.event import LogEvent
from hedgerow_operator.core.attribution.log.exits import exit_events
from hedgerow_operator.core.attribution.log.gauges import HangGauges
from hedgerow_operator.core.attribution.log.launcher import TRIGGER, LauncherReports
from hedgerow_operator.core.attribution.log.network import mismatch_event, network_event
from hedgerow_operator.core.attribution.log.ras import Ras
from hedgerow_operator.core.attribution.log.speaker import speaker_of
from hedgerow_operator.core.attribution.log.summaries import ElasticSummary, Traced, desync_event
from hedgerow_operator.core.attribution.log.tracebacks import Tracebacks
from hedgerow_operator.core.attribution.log.watchdog import watchdog_event
from hedgerow_operator.core.attribution.log.wrapping import Wrapping

# A line that matters holds one of these; after one, ATTENTION lines are read whatever they hold.
TRIGGERS = (
    b"Error", b"rror:", b"xception", b"atchdog", b"NCCL", b"raceback", b"SIG", b"ignal", b"illed", b"erminated",
    b"CANCELLED", b"oom", b"OOM", b"ut of memory", b"exitcode", b"local_rank: ", b"MISMATCH", b"INCOMPLETE",
    b"considered dead", b"Segmentation", b"Bus error", b"borted", b"Xid", b"ECC", b"fallen off", b"NET/IB",
    b"Root Cause", b"COMMON_HANG{", b"Could not acquire GIL", b"return code", b"link down", b"link is down",
    b"nreachable", b"No route", b"joining collective", b"best knowledge", b"can't open file", b"No module named",
    TRIGGER,
)  # fmt: skip
ATTENTION = 400
# No message is longer; it bounds what patterns cost in garbage.
_LONGEST_LINE = 4096


class LogReader:
    """Feed it lines with :meth:`read`; :meth:`finish` gives the events."""

    def __init__(self) -> None:
        self._collector = Collector()
        self._wrapping = Wrapping()
        self._tracebacks = Tracebacks()
        self._elastic = ElasticSummary()
        self._traced = Traced()
        self._ras = Ras()
        self._gauges = HangGauges()
        self._launcher = LauncherReports()

    def read(self, text: str, line: int) -> None:
        """Take one line, without its end; ``line`` counts from 1."""
        text = text[:_LONGEST_LINE]
        self._gauges.feed(text, line)
        for report in (self._elastic, self._traced, self._ras, self._launcher):
            if self._collector.add(report.feed(text, line)):
                return
        for whole, start in self._wrapping.feed(text, line):
            self._collector.add(self._events(whole, start))

    def finish(self) -> tuple[list[LogEvent], int]:
        """All events by line, and how many more there were than are kept."""
        for whole, start in self._wrapping.finish():
            self._collector.add(self._events(whole, start))
        for report in (self._traced, self._ras, self._gauges):
            self._collector.add(report.finish())
        events = [self._without_task(event) for event in self._collector.events]
        return sorted(events, key=lambda event: event.line), self._collector.omitted

    def _events(self, text: str, line: int) -> Iterator[LogEvent]:
        speaker, words = speaker_of(text)
        in_traceback = self._tracebacks.feed(speaker, words, "[rank" in text, line)
        event = (
            desync_event(text, line)
            or mismatch_event(text, line)
            or watchdog_event(text, speaker, line)
            or network_event(text, speaker, line)
            or crash_event(text, words, speaker, line, in_traceback)
        )
        if event is not None:
            yield event
        else:
            yield from exit_events(text, words, speaker, line)

    def _without_task(self, event: LogEvent) -> LogEvent:
        """Tasks of srun are ranks unless each of them is a torchrun that starts some."""
        if not self._elastic.seen or not event.details.get("task"):
            return event
        details = {**event.details, "taskNumber": event.rank}
        return LogEvent(kind=event.kind, line=event.line, fault_class=event.fault_class,
                        consequence=event.consequence, text=event.text, details=details)  # fmt: skip
