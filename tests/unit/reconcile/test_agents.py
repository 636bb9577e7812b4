"""The hub of agents' reports, and how senders are asked for fewer reports while there is too much to do."""

import asyncio
import dataclasses
from typing import Any

import msgspec
import pytest

from hedgerow import wire_agent
from hedgerow_operator.reconcile.agents import FORGET_SECONDS, AgentHub, Outline
from hedgerow_operator.reconcile.pressure import LONGEST_INTERVAL_SECONDS, Pressure


def report(**changes: Any) -> wire_agent.AgentReport:
    plain = wire_agent.AgentReport(
        node="node-a", boot="boot", agent="agent", seq=1, sent_monotonic=1.0, sent_wall=2.0, health="Healthy"
    )
    return dataclasses.replace(plain, **changes)


class Hub:
    """A hub on a pretended clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pressure = Pressure()
        self.hub = AgentHub(lambda: self.now, self.pressure)
        self.news: list[str] = []
        self.hub.on_news = self.news.append

    def receive(self, report: wire_agent.AgentReport) -> wire_agent.AgentAnswer:
        body = wire_agent.encode_report(report)
        return self.hub.receive_body(msgspec.json.decode(body, type=Outline), body)

    def seq(self, node: str = "node-a") -> int | None:
        heard = self.hub.newest(node)
        return heard.report.seq if heard else None


def test_the_newest_report_of_each_node_counts_however_they_arrive() -> None:
    hub = Hub()
    for seq in (3, 5, 4):
        hub.receive(report(seq=seq))
    hub.receive(report(seq=1, node="node-b"))
    assert (hub.seq(), hub.seq("node-b"), hub.seq("node-c")) == (5, 1, None)


def test_an_agent_that_was_begun_anew_counts_from_its_first_report() -> None:
    hub = Hub()
    hub.receive(report(seq=50))
    hub.receive(report(seq=1, agent="another"))
    assert hub.seq() == 1


def test_a_repeated_report_does_not_make_its_node_look_younger() -> None:
    hub = Hub()
    hub.receive(report())
    hub.now += 20.0
    hub.receive(report())
    heard = hub.hub.newest("node-a")
    assert heard is not None
    assert heard.age == 20.0


def test_news_is_what_changes_the_health_and_not_what_is_measured() -> None:
    hub = Hub()
    gpu = wire_agent.GpuReport(index=0, values={"power_watts": 300.0})
    hub.receive(report(seq=1, gpus=[gpu]))
    hub.receive(report(seq=2, gpus=[dataclasses.replace(gpu, values={"power_watts": 90.0})]))
    assert hub.news == ["node-a"]
    hub.receive(report(seq=3, gpus=[dataclasses.replace(gpu, state=wire_agent.GPU_LOST)]))
    assert hub.news == ["node-a", "node-a"]


def test_a_node_that_is_silent_for_long_is_forgotten() -> None:
    hub = Hub()
    for number in range(1000):
        hub.receive(report(node=f"node-{number}"))
        hub.now += 5.0
    assert len(list(hub.hub.nodes())) <= (FORGET_SECONDS + 65.0) / 5.0
    assert hub.seq("node-0") is None
    assert hub.seq("node-999") == 1


@pytest.mark.parametrize(
    ("late", "calm", "busy"),
    [
        pytest.param([], 5.0, 1.0, id="in time"),
        pytest.param([0.1] * 50, 5.0, 1.0, id="hardly late"),
        pytest.param([1.0] * 2, 10.0, 2.25, id="late twice"),
        pytest.param([3.0] * 99, 10.0, 8.0, id="late for long"),
        pytest.param([3.0] * 99 + [0.0] * 50, 5.0, 1.0, id="late, and in time again since"),
    ],
)
def test_intervals_are_stretched_while_the_loop_is_late_and_not_beyond_what_looks_silent(
    late: list[float], calm: float, busy: float
) -> None:
    pressure = Pressure()
    for seconds in late:
        pressure.note(seconds)
    assert (pressure.interval(5.0), pressure.interval(1.0)) == (calm, busy)
    assert pressure.interval(20.0) == 20.0
    assert calm <= LONGEST_INTERVAL_SECONDS


@pytest.mark.parametrize(
    ("shares", "least", "most"),
    [
        pytest.param([0.6] * 100, 5.0, 5.0, id="with time to spare"),
        pytest.param([0.6, 0.6, 1.0, 0.6] * 25, 5.0, 5.0, id="a single large pass now and then"),
        pytest.param([0.9] * 100, 10.0, 10.0, id="without a quarter of the core to spare"),
        pytest.param([1.0] * 16, 10.0, 10.0, id="at once where nothing is left of the core"),
        pytest.param([0.9] * 9 + [0.6] * 100, 5.5, 9.0, id="until there was a quarter to spare, and no further"),
        pytest.param([0.9] * 100 + [0.6] * 100, 10.0, 10.0, id="it does not go to and fro"),
        pytest.param([0.9] * 100 + [0.1] * 100, 5.0, 5.0, id="until most of the core was idle again"),
    ],
)
def test_intervals_are_stretched_by_how_much_of_a_core_is_used(shares: list[float], least: float, most: float) -> None:
    pressure = Pressure()
    for share in shares:
        pressure.note(0.0, share)
    assert least <= pressure.interval(5.0) <= most


async def test_the_share_of_a_core_is_measured_by_the_processor_time() -> None:
    pressure, used = Pressure(), iter(range(1000))
    measured = asyncio.ensure_future(pressure.run(lambda: asyncio.get_running_loop().time(), lambda: float(next(used))))
    async with asyncio.timeout(60):
        while pressure.factor == 1.0:
            await asyncio.sleep(0.01)
    measured.cancel()


def test_agents_are_told_the_stretched_interval() -> None:
    hub = Hub()
    hub.pressure.factor = 1.5
    assert hub.receive(report()).interval_seconds == 7.5


def test_what_was_heard_is_read_as_it_was_said() -> None:
    hub = Hub()
    said = report(gpus=[wire_agent.GpuReport(index=0, values={"power_watts": 300.0})])
    hub.receive(said)
    for _ in range(2):
        heard = hub.hub.newest("node-a")
        assert heard is not None
        assert heard.report == said


def test_a_report_that_cannot_be_read_is_no_measurement() -> None:
    hub = Hub()
    outline = Outline(node="node-a", agent="agent", seq=1)
    hub.hub.receive_body(outline, b'{"node": "node-a", "gpus": "none"}')
    assert hub.hub.newest("node-a") is None
    assert [entry.node for entry, _age in hub.hub.outlines()] == ["node-a"]


def test_a_report_made_here_is_heard_as_well() -> None:
    hub = Hub()
    hub.hub.receive(report(seq=7))
    assert (hub.seq(), hub.hub.age("node-a"), hub.hub.age("node-b")) == (7, 0.0, None)
    hub.now += FORGET_SECONDS
    assert hub.hub.age("node-a") is None
