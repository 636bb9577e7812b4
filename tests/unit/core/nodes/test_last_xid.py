"""The GPUNode keeps the last Xid of each GPU, so that an operator that begins anew knows it from a new one."""

from __future__ import annotations

import dataclasses

from hedgerow.wire_agent import AgentReport, GpuEvent
from hedgerow_operator.api.gpu_node import GPUNodeStatus, Xid
from hedgerow_operator.api.times import format_time
from hedgerow_operator.core.nodes.findings import last_xids
from tests.unit.core.nodes.builders import NOW, after, report


def event(code: int, age: float, **fields: object) -> GpuEvent:
    """An Xid of GPU 3 that came once."""
    whole = GpuEvent("Xid", code, "0000:03:00.0", 3, age=age, first_age=age)
    return dataclasses.replace(whole, **fields)  # type: ignore[arg-type]


def heard(*events: GpuEvent) -> AgentReport:
    return dataclasses.replace(report(), events=list(events))


def test_the_last_one_of_each_gpu_is_kept_with_when_it_was_first_seen() -> None:
    status = after(GPUNodeStatus(), heard(event(79, 20.0), event(31, 10.0), event(13, 5.0, gpu=2)))
    assert {gpu.index: gpu.xid for gpu in status.gpus if gpu.xid} == {
        3: Xid(code=31, since=format_time(NOW - 10.0)),
        2: Xid(code=13, since=format_time(NOW - 5.0)),
    }


def test_none_is_kept_of_what_is_over_of_switches_or_of_no_gpu() -> None:
    for found in (event(79, 5.0, recovered=True), event(20034, 5.0, kind="SXid"), event(79, 5.0, gpu=None)):
        assert last_xids(heard(found), NOW) == {}


def test_a_few_seconds_in_when_it_was_are_no_news() -> None:
    first = after(GPUNodeStatus(), heard(event(79, 5.0)))
    assert after(first, heard(event(79, 14.0)), now=NOW + 10.0).gpus == first.gpus
    again = after(first, heard(event(79, 1.0)), now=NOW + 600.0).gpus[3].xid
    assert again == Xid(code=79, since=format_time(NOW + 599.0))
