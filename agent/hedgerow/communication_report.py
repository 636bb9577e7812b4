"""Time in collectives as it passes from the rank, by the table of values, into the report."""

from __future__ import annotations

from typing import Mapping, Optional

from hedgerow.values import OWN_PREFIX, Value
from hedgerow.wire import MAX_SECONDS, CommunicationReport

SECONDS = OWN_PREFIX + "communication_seconds"
SHARE = OWN_PREFIX + "communication_share"
KIND = OWN_PREFIX + "communication_kind"
KIND_DDP = 1
KIND_CALLS = 2
KIND_RECORDER = 4
_SOURCES = {KIND_DDP: "DDP", KIND_CALLS: "Calls", KIND_DDP + KIND_CALLS: "DDP+Calls", KIND_RECORDER: "FlightRecorder"}
_INSPECTOR = "Inspector"


def communication_report(table: Mapping[str, Value], now_ns: int) -> Optional[CommunicationReport]:
    """What the rank measured last; None when it has not measured. now_ns: CLOCK_MONOTONIC."""
    # The rank writes the seconds last. NaN is within no bounds.
    names = (SECONDS, SHARE, KIND)
    if not all(name in table and 0.0 <= table[name].number <= MAX_SECONDS for name in names):
        return None
    return CommunicationReport(
        seconds_per_step=table[SECONDS].number,
        share=table[SHARE].number,
        source=_SOURCES.get(int(table[KIND].number), ""),
        age=max(0.0, (now_ns - table[SECONDS].time_ns) / 1e9),
    )


def inspected_report(
    share: float, bus: Optional[float], step_seconds: Optional[float], age: float
) -> Optional[CommunicationReport]:
    """What NCCL Inspector's samples tell of a rank with this usual length of a step; None without one."""
    if step_seconds is None:
        return None
    return CommunicationReport(
        seconds_per_step=share * step_seconds,
        share=share,
        source=_INSPECTOR,
        age=max(0.0, age),
        bus_gigabytes_per_second=bus,
    )
