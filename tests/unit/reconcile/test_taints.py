"""Nodes are tainted by an operator that leads and knows them all, and freed once their quarantine is over."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.core.nodes.taints import Mark, TaintRules
from hedgerow_operator.reconcile.ports import Conflict, JobKey, Unreachable
from hedgerow_operator.reconcile.taints import Tainting
from tests.unit.core.nodes.builders import LOST, RULES
from tests.unit.reconcile.fakes import FakeLeadership
from tests.unit.reconcile.test_nodes import Scene


class FakeTaints:
    """reconcile.taints.NodeTaints in memory."""

    def __init__(self) -> None:
        self.stored: dict[str, Mark] = {}
        self.conflicts: set[str] = set()

    async def marks(self) -> Mapping[str, Mark]:
        return dict(self.stored)

    async def taint(self, name: str, quarantine: Quarantine, until: float) -> None:
        self._change(name, Mark(cause=quarantine.since, until=until, tainted=True))

    async def release(self, name: str) -> None:
        self._change(name, Mark(cause=self.stored[name].cause, until=None, tainted=False))

    async def clear(self, name: str) -> None:
        self._change(name, None)

    def _change(self, name: str, mark: Mark | None) -> None:
        if name in self.conflicts:
            raise Conflict(name)
        self.stored.pop(name, None)
        if mark is not None:
            self.stored[name] = mark


class Fleet:
    """Some nodes, of which the first is sick, and an operator that taints."""

    def __init__(self, looks: int = 1_000_000) -> None:
        self.scene = Scene()
        self.taints = FakeTaints()
        self.looks = looks

    async def sick(self, *names: str) -> Fleet:
        await self.scene.reconciler.load()
        for name in ("node-1", "node-2", "node-3"):
            self.scene.hear(*([LOST] if name in names else []), node=name)
            await self.scene.reconciler.reconcile(JobKey("", name))
        return self

    async def look(self, percent: int = 100) -> list[str]:
        """Names of the tainted nodes after a look."""
        rules = TaintRules(max_percent=percent, expiry_seconds=3600.0)
        scene = self.scene
        tainting = Tainting(
            self.taints, scene.reconciler, FakeLeadership(self.looks), lambda: scene.now, rules
        )  # fmt: skip
        await tainting.look()
        return sorted(name for name, mark in self.taints.stored.items() if mark.tainted)


async def test_a_quarantined_node_is_tainted_and_freed_when_its_quarantine_is_over() -> None:
    fleet = await Fleet().sick("node-1")
    assert await fleet.look() == ["node-1"]
    fleet.scene.now += 60.0
    await fleet.sick()
    assert await fleet.look() == ["node-1"]
    fleet.scene.now += RULES.quarantine_seconds
    await fleet.sick()
    assert await fleet.look() == []
    assert fleet.taints.stored == {}


async def test_no_more_than_the_fleets_share_is() -> None:
    fleet = await Fleet().sick("node-1", "node-2", "node-3")
    assert len(await fleet.look(percent=70)) == 2


async def test_an_operator_that_has_not_read_the_nodes_yet_frees_none() -> None:
    fleet = await Fleet().sick("node-1")
    await fleet.look()
    fleet.scene.begin()
    assert await fleet.look() == ["node-1"]


async def test_one_that_began_anew_goes_on_where_the_other_stopped() -> None:
    fleet = await Fleet().sick("node-1")
    await fleet.look()
    before = dict(fleet.taints.stored)
    fleet.scene.begin()
    await fleet.scene.reconciler.load()
    assert await fleet.look() == ["node-1"]
    assert fleet.taints.stored == before


async def test_one_that_does_not_lead_any_more_changes_nothing() -> None:
    fleet = await Fleet(looks=0).sick("node-1")
    with pytest.raises(Unreachable):
        await fleet.look()
    assert fleet.taints.stored == {}


async def test_a_node_that_somebody_else_is_changing_does_not_hold_up_the_others() -> None:
    fleet = await Fleet().sick("node-1", "node-2")
    fleet.taints.conflicts.add("node-1")
    assert await fleet.look() == ["node-2"]
    fleet.taints.conflicts.clear()
    assert await fleet.look() == ["node-1", "node-2"]
