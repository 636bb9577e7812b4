"""The hang gauge of an xpu_timer scrape: which ranks stand in a kernel for too long, of how many."""

import re
from collections.abc import Iterator

from hedgerow_operator.core.attribution.log.event import EventKind, LogEvent, shortened

# DLRover's xpu_timer sets it to 1 on a rank whose kernel or collective does not end.
_HANG = re.compile(r"^XPU_TIMER_COMMON_HANG\{(?P<labels>[^}]*)\} (?P<value>[\d.]+)")
_RANK = re.compile(r'(?<![a-z_])rank="(\d{1,6})"')


class HangGauges:
    """All hang gauges of a scrape."""

    def __init__(self) -> None:
        self._ranks: dict[int, tuple[bool, int, str]] = {}

    def feed(self, text: str, line: int) -> None:
        """Take a line of the scrape."""
        found = _HANG.match(text) if text.startswith("XPU_TIMER") else None
        rank = _RANK.search(found["labels"]) if found else None
        if found and rank:
            self._ranks[int(rank[1])] = (float(found["value"]) > 0, line, text)

    def finish(self) -> Iterator[LogEvent]:
        """An event for each rank that hangs; each tells whether all do."""
        hanging = sorted(rank for rank, (hangs, _, _) in self._ranks.items() if hangs)
        for rank in hanging:
            _, line, text = self._ranks[rank]
            yield LogEvent(
                kind=EventKind.WATCHDOG_STUCK,
                rank=rank,
                line=line,
                text=shortened(text),
                details={"gauge": True, "hanging": len(hanging), "of": len(self._ranks),
                         "jobWide": len(hanging) == len(self._ranks)},
            )  # fmt: skip
