"""Draining on the clusters that allow it: one look at a time, whatever one of them says."""

from collections.abc import Iterable, Mapping

from hedgerow_operator.adapters.slurm.driver import Unsupported
from hedgerow_operator.api.gpu_node import Quarantine
from hedgerow_operator.reconcile.ports import JobKey
from hedgerow_operator.reconcile.slurm_drains import Drainable, Draining
from tests.unit.reconcile.fakes import FakeLeadership
from tests.unit.slurm.pretended_cluster import LOST, PretendedSlurm

BAD = Quarantine(reason="Xid79", message="gone", since="2027-01-01T00:00:00Z")
ONE, TWO = JobKey("ml", "one"), JobKey("ml", "two")


class Fleet:
    """Two clusters with nodes n1 … n4 each."""

    def __init__(self, looks: int = 1_000_000) -> None:
        self.clusters = {ONE: PretendedSlurm(), TWO: PretendedSlurm()}
        self.quarantines: Mapping[str, Quarantine] | None = {"n2": BAD}
        self.told: list[tuple[JobKey, str]] = []
        self.draining = Draining(
            self, lambda: self.quarantines, FakeLeadership(looks), lambda key, text: self.told.append((key, text))
        )

    async def drainable(self) -> Iterable[tuple[JobKey, Drainable]]:
        return list(self.clusters.items())

    def calls(self, key: JobKey) -> list[str]:
        return [call for call in self.clusters[key].calls if call != "nodes"]


async def test_a_quarantined_node_is_drained_once_on_each() -> None:
    fleet = Fleet()
    await fleet.draining.look()
    await fleet.draining.look()
    assert fleet.calls(ONE) == fleet.calls(TWO) == ["drain n2 hedgerow: Xid79 gone"]


async def test_what_one_cannot_do_is_told_once_and_keeps_nobody_from_the_other() -> None:
    fleet = Fleet()
    fleet.clusters[ONE].failures["drain"] = Unsupported("slurmrestd 22.05 cannot drain; use driver: CLI")
    fleet.clusters[TWO].failures["nodes"] = LOST
    await fleet.draining.look()
    await fleet.draining.look()
    assert [key for key, _ in fleet.told] == [ONE, TWO]
    fleet.clusters[TWO].failures.clear()
    await fleet.draining.look()
    assert fleet.calls(TWO) == ["drain n2 hedgerow: Xid79 gone"]


async def test_nothing_is_drained_or_undone_before_the_quarantines_are_known() -> None:
    fleet = Fleet()
    fleet.quarantines = None
    await fleet.draining.look()
    assert fleet.clusters[ONE].calls == []


async def test_an_operator_that_does_not_lead_drains_nothing() -> None:
    fleet = Fleet(looks=0)
    await fleet.draining.look()
    assert fleet.clusters[ONE].calls == []


async def test_what_is_said_of_a_node_of_one_cluster_drains_no_node_of_that_name_in_another() -> None:
    fleet = Fleet()
    draining = Draining(
        fleet, lambda: fleet.quarantines, FakeLeadership(10), lambda key, text: None, site_of=lambda node: "ml/one"
    )
    await draining.look()
    assert (fleet.calls(ONE), fleet.calls(TWO)) == (["drain n2 hedgerow: Xid79 gone"], [])
