"""Exporters are asked over real HTTP: one that hangs, floods or lies is a silent agent, and delays no other."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from hedgerow.wire_agent import FAILED, AgentReport
from hedgerow_operator.adapters.exporters import scraper
from hedgerow_operator.adapters.exporters.fetch import MAX_BYTES, Fetch, NoAnswer
from hedgerow_operator.adapters.exporters.scraper import Scraper
from hedgerow_operator.reconcile.agents import AgentHub
from hedgerow_operator.reconcile.exporters import Exporter, ExporterRules
from tests.unit.core.nodes.exporter_text import text
from tests.unit.exporters.exporter_servers import (
    Answer,
    World,
    breaks_off,
    floods,
    hangs,
    says,
    trickles,
    well,
)

EVERY = 0.05


@asynccontextmanager
async def scraping(
    world: World,
    hub: scraper.Hub | None = None,
    seconds: float = 0.4,
    known: dict[int, tuple[int, float]] | None = None,
) -> AsyncIterator[Scraper]:
    """A scraper at work."""
    rules = ExporterRules(namespace="gpu-operator", scrape_seconds=EVERY)
    made = Scraper(
        world, hub or world, rules, lambda node: known or {}, time.monotonic, time.time,
        Fetch(16, total_seconds=seconds, connect_seconds=seconds),
    )  # fmt: skip
    task = asyncio.create_task(made.run(discover_seconds=EVERY))
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(what: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(seconds):
        while not what():
            await asyncio.sleep(0.01)


async def test_what_an_exporter_says_is_the_report_of_its_nodes_agent() -> None:
    world, hub = World(), AgentHub(time.monotonic)
    async with world.serving(node1=well(gpus=8)), scraping(world, hub):
        await until(lambda: hub.newest("node1") is not None)
    heard = hub.newest("node1")
    assert heard is not None
    assert (heard.report.node, heard.report.agent, len(heard.report.gpus)) == ("node1", "node1/0", 8)
    assert heard.report.gpus[7].values["power_watts"] == 67.03


BAD: dict[str, tuple[Answer, str]] = {
    "one that hangs": (hangs, "does not answer within"),
    "one that sends a byte at a time": (trickles, "does not answer within"),
    "one whose body has no end": (floods, "serves more than 4 MiB|does not answer within"),
    "one that breaks off": (breaks_off, "cannot be asked"),
    "one with a fault of its own": (says(b"oops", status=500), "answers with HTTP 500"),
    "one that sends us elsewhere": (says(b"", 302, {"Location": "http://127.0.0.1:1/"}), "answers with HTTP 302"),
}


@pytest.mark.parametrize(("answer", "words"), BAD.values(), ids=BAD)
async def test_there_is_no_answer_from(answer: Answer, words: str) -> None:
    world = World()
    async with world.serving(node1=answer), Fetch(4, total_seconds=1.0) as fetch:
        with pytest.raises(NoAnswer, match=words):
            await fetch.text(world.exporters["node1"].url)


async def test_there_is_no_answer_where_nobody_listens() -> None:
    async with Fetch(4) as fetch:
        with pytest.raises(NoAnswer, match="cannot be asked"):
            await fetch.text("http://127.0.0.1:1/metrics")


async def test_a_body_of_more_than_the_limit_is_not_kept() -> None:
    world = World()
    async with world.serving(node1=says(b"#" * (MAX_BYTES + 1))), Fetch(4) as fetch:
        with pytest.raises(NoAnswer, match="serves more than"):
            await fetch.text(world.exporters["node1"].url)


async def test_no_text_is_unpacked_into_something_far_larger() -> None:
    world, packed = World(), gzip.compress(text(1).encode() * 1000)
    async with world.serving(node1=says(packed, headers={"Content-Encoding": "gzip"})), Fetch(4) as fetch:
        assert "DCGM" not in await fetch.text(world.exporters["node1"].url)


async def test_those_that_misbehave_delay_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scraper, "AT_ONCE", 4)
    monkeypatch.setattr(scraper, "DOUBTFUL_AT_ONCE", 2)
    world = World()
    bad = dict.fromkeys((f"bad{number}" for number in range(12)), hangs)
    garbage = says(b"\x00\xff{}{}{" * 1000)
    server = world.serving(good=well(), garbage=garbage, error=says(b"", 503), **bad)
    async with server as served, scraping(world, seconds=1.0):
        await until(lambda: world.count("good") > 0)
        # In the time in which one that hangs is waited for, a good one is asked again and again.
        begun, asked = time.monotonic(), world.count("good")
        await until(lambda: world.count("good") >= asked + 5)
        assert time.monotonic() - begun < 12 * 1.0
        await until(lambda: all(served[node].asked for node in (*bad, "garbage", "error")))
    assert set(world.reports) == {"good"}


async def test_one_that_is_well_again_is_heard_again() -> None:
    world = World()
    async with world.serving(node1=well()) as served, scraping(world):
        await until(lambda: world.count("node1") > 0)
        served["node1"].answer = says(b"", 500)
        asked = served["node1"].asked
        await until(lambda: served["node1"].asked >= asked + 3)
        silent = world.count("node1")
        served["node1"].answer = well()
        await until(lambda: world.count("node1") > silent)


async def test_an_exporter_that_has_gone_is_asked_no_more_and_a_new_one_is_found() -> None:
    world = World()
    async with world.serving(old=well(), new=well()) as served, scraping(world):
        await until(lambda: world.count("old") > 0)
        new, world.exporters = world.exporters, {}
        await asyncio.sleep(4 * EVERY)
        asked = served["old"].asked
        world.exporters = {"new": new["new"]}
        count = world.count("new")
        await until(lambda: world.count("new") > count + 2)
        assert served["old"].asked == asked


async def test_while_the_api_server_is_away_those_that_are_known_are_asked_on() -> None:
    world = World()
    async with world.serving(node1=well()), scraping(world):
        await until(lambda: world.count("node1") > 0)
        world.unreachable = True
        count = world.count("node1")
        await until(lambda: world.count("node1") > count + 5)


async def test_an_exporter_that_began_anew_elsewhere_is_followed() -> None:
    world = World()
    async with world.serving(node1=well(), other=well()), scraping(world):
        await until(lambda: world.count("node1") > 0)
        world.exporters["node1"] = Exporter(node="node1", url=world.exporters["other"].url, process="node1/1")
        await until(lambda: world.reports["node1"][-1].agent == "node1/1")


async def test_an_xid_that_the_gpu_node_told_of_long_ago_is_no_news_to_an_operator_that_begins() -> None:
    served = says(text(2, changes={0: {"DCGM_FI_DEV_XID_ERRORS": "79"}}).encode())
    for known, failed in (({0: (79, 7200.0)}, False), ({}, True)):
        world = World()
        async with world.serving(node1=served), scraping(world, known=known):
            await until(lambda world=world: world.count("node1") > 0)  # type: ignore[misc]
        assert (world.reports["node1"][0].health == FAILED) is failed


async def test_a_fault_of_ours_with_one_node_does_not_leave_it_unseen_for_good() -> None:
    class Faulty(World):
        faults = 1

        def receive(self, report: AgentReport) -> None:
            self.faults -= 1
            if self.faults >= 0:
                raise ZeroDivisionError
            super().receive(report)

    world = Faulty()
    async with world.serving(node1=well()), scraping(world):
        await until(lambda: world.count("node1") > 0)
