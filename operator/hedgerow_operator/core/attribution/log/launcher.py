"""What Hedgerow's own launcher says of ranks that ended."""

from collections.abc import Iterator

from hedgerow.logs import launcher_lines as lines
from hedgerow.logs.line import split_prefix
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.log.event import STOPPED, EventKind, LogEvent, shortened
from hedgerow_operator.core.attribution.log.exits import exit_event

TRIGGER = lines.PREFIX.encode()
_CANNOT_START = 127


class LauncherReports:
    """Ranks that end once they were told to are consequences; asking them to is no event, but for who asked."""

    def __init__(self) -> None:
        self._stopped = ""
        self._command: LogEvent | None = None

    def feed(self, text: str, line: int) -> Iterator[LogEvent]:
        """The event of one line, if it is one."""
        if lines.PREFIX not in text:
            return
        said = lines.parse(split_prefix(text)[1].strip())
        if said is None:
            return
        if said.template == lines.STARTS:
            self._stopped, self._command = "", None
        elif said.template == lines.STOPPED:
            self._stopped = said.fields[1].strip(": ") or "asked"
        elif said.template in (lines.ASKED_TO_END, lines.FENCED):
            self._stopped = "asked"
            fenced = said.template == lines.FENCED
            yield LogEvent(kind=EventKind.EXIT, line=line, text=shortened(text), details={"cancelled": True},
                           fault_class=FaultClass.NETWORK if fenced else FaultClass.SCHEDULER)
        elif said.template == lines.CANNOT_START:
            yield exit_event(None, _CANNOT_START, line, text, {"cannotStart": True})
        elif said.template == lines.COMMAND_ENDED and said.number(0) and not self._stopped:
            self._command = exit_event(None, said.number(0), line, text, {"command": True})
        elif said.template == lines.ALL_ENDED and self._command is not None:
            # Where a rank ended badly, that is why the command did.
            yield self._command
            self._command = None
        elif said.template == lines.RANK_ENDED and said.number(1):
            self._command = None
            details = {STOPPED: self._stopped} if self._stopped else {}
            yield exit_event(said.number(0), said.number(1), line, text, details, bool(self._stopped))
