"""An Xid that a dcgm-exporter still shows holds a node back once: a new operator knows by the GPUNode its age."""

from __future__ import annotations

from hedgerow_operator.core.nodes.dcgm.node import ExporterNode
from hedgerow_operator.core.nodes.dcgm.text import read
from tests.unit.core.nodes.builders import RULES
from tests.unit.core.nodes.exporter_text import text
from tests.unit.reconcile.test_nodes import Scene


class Scraped(Scene):
    """The node is told of by an exporter that shows Xid 79 of its GPU 0 from its second scrape on."""

    def begin(self, looks: int = 1_000_000) -> None:
        super().begin(looks)
        self.exporter: ExporterNode | None = None

    async def scrape(self, seconds: float) -> None:
        """So many seconds later, and a pass."""
        self.now += seconds
        if self.exporter is None:
            await self.reconciler.load()
            self.exporter = ExporterNode("node-1")
            known = self.reconciler.xids("node-1")
            self.exporter.recall({index: (code, self.now - age) for index, (code, age) in known.items()})
        self.seq += 1
        shown = {0: {"DCGM_FI_DEV_XID_ERRORS": "79" if self.seq > 1 else "0"}}
        served = read(text(2, at=self.now, changes=shown))
        self.hub.receive(self.exporter.take(served, "exporter", self.now, self.now))
        await self.look()


async def test_a_new_operator_holds_the_node_no_longer_than_the_old_one_would_have() -> None:
    scene = Scraped()
    for _ in range(3):
        await scene.scrape(20.0)
    assert scene.state() == "Quarantined"
    scene.begin()
    await scene.scrape(1800.0)
    assert scene.state() == "Quarantined"
    await scene.scrape(1800.0)
    await scene.scrape(RULES.quarantine_seconds + 20.0)
    assert scene.state() == "Healthy"
    scene.begin()
    for _ in range(3):
        await scene.scrape(20.0)
    assert scene.state() == "Healthy"
    assert scene.reconciler.xids("node-1")[0][0] == 79


async def test_of_a_node_that_nobody_knows_no_xid_is_known() -> None:
    assert Scene().reconciler.xids("node-1") == {}
