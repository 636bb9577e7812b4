"""A GPU that failed under a job: decisive where a rank of it stands still, the reason where one ended, else none."""

from __future__ import annotations

import dataclasses

import pytest

from hedgerow import wire
from hedgerow.wire_agent import ACTION_REBOOT, FAILED, AgentReport, Finding
from hedgerow_operator.api import reasons
from hedgerow_operator.api.status import Incident, IncidentGPU
from hedgerow_operator.core.nodes.places import GPUPlace
from hedgerow_operator.core.step import RUNNING, STOPPING
from tests.unit.core.builders import make_job
from tests.unit.core.nodes.builders import LOST, report
from tests.unit.core.test_orders_of_users import no_room
from tests.unit.core.world import World

SPEC = {"workers": 2, "ranksPerWorker": 2}
ELSEWHERE = dataclasses.replace(LOST, gpu=7)
MISSING = Finding("presence", FAILED, "GPUMissing", ACTION_REBOOT, "the driver holds 8 GPUs, and 7 are listed")
# Of worker 1, on node2; ranks 2 and 3 are on the GPUs 3 and 4.
PLACES = {2: GPUPlace(node="node2", index=3, uuid="GPU-3", pci="0000:03:00.0"), 3: GPUPlace(node="node2", index=4)}


def training(**spec: object) -> World:
    world = World(make_job({**SPEC, **spec})).until(RUNNING).run(30.0)
    world.places = dict(PLACES)
    return world


def fails(world: World, *findings: Finding, node: str = "node2") -> AgentReport:
    """The agent of a node finds this, and so the node is quarantined."""
    world.sick[node] = report(*findings, node=node)
    world.quarantined[node] = findings[0].reason
    return world.sick[node]


def busy(world: World) -> None:
    """The ranks of worker 1 go nowhere, and every rank spins: nothing but the GPU tells it from work."""

    def say(rank: wire.RankReport, now: float) -> wire.RankReport:
        activity = dataclasses.replace(
            rank.activity, idle_seconds=0.0, io_idle_seconds=0.0, stack_unchanged_seconds=0.0
        )
        return dataclasses.replace(rank, activity=activity)

    world.launchers[1].hang_at = world.launchers[1].step
    for launcher in world.launchers:
        launcher.says = say


def test_a_standstill_over_a_failed_gpu_is_acted_on_at_once_though_everybody_computes() -> None:
    world = training()
    busy(world)
    fails(world, LOST)
    world.run(20.0)
    entry = world.status.history[-1]
    assert (entry.reason, entry.node, entry.ranks, entry.fault_class) == ("HardwareFault", "node2", (2,), "Hardware")
    assert "Xid 79" in entry.message


def test_without_the_gpu_the_same_standstill_is_not() -> None:
    world = training()
    busy(world)
    world.run(20.0)
    assert world.status.attempt == 1
    assert world.status.attempt_stage == RUNNING


def test_the_incident_names_the_gpu_and_the_one_alert_says_why() -> None:
    world = training()
    busy(world)
    fails(world, LOST)
    for _ in range(60):
        world.tick(0.5)
        if world.status.attempt_stage == STOPPING:
            break
    incident = world.status.incident
    assert incident is not None
    assert incident.gpu == IncidentGPU(index=3, uuid="GPU-3", pci="0000:03:00.0")
    assert (incident.node, incident.ranks) == ("node2", (2,))
    assert incident.message.startswith("GPU 3 of node node2 (GPU-3, 0000:03:00.0), which rank 2 uses, failed: Xid 79")
    assert "in a new placement" in incident.action
    assert [event.reason for event in world.events if event.warning] == [reasons.HARDWARE_FAULT]


def test_the_next_attempt_is_placed_without_the_quarantined_node_and_the_one_after_the_quarantine_with_it() -> None:
    world = training()
    busy(world)
    fails(world, LOST)
    world.run(60.0)
    assert world.status.attempt == 2
    assert "node2" not in world.placements[2].nodes.values()
    assert world.status.excluded_nodes == ()
    world.sick.clear()
    world.quarantined.clear()
    world.placements[2].deleting.add(0)
    world.run(90.0)
    assert world.status.attempt == 3
    assert "node2" in world.placements[3].nodes.values()


def waits(world: World) -> None:
    """The second placement finds no room, as a node is quarantined."""
    world.on_placement = lambda placement: no_room(placement) if placement.avoided else None
    busy(world)
    fails(world, LOST)
    world.run(60.0)
    assert world.status.attempt == 2
    assert world.placements[2].avoided == ("node2",)


def test_a_job_that_waits_for_room_is_placed_anew_once_the_quarantine_is_over_and_that_does_not_count() -> None:
    world = training()
    waits(world)
    world.run(300.0)
    assert world.status.attempt == 2
    world.quarantined.clear()
    world.run(60.0)
    assert world.status.attempt_stage == RUNNING
    assert (world.status.attempt, world.status.restarts_counted) == (2, 1)
    assert "node2" in world.placements[2].nodes.values()
    (told,) = (event for event in world.events if event.reason == reasons.EXCLUSION_ENDED)
    assert told.message == "no room was found without node node2, which may be used again"


def test_a_job_that_trains_is_not_disturbed_when_a_quarantine_ends() -> None:
    world = training()
    busy(world)
    fails(world, LOST)
    world.run(60.0)
    world.quarantined.clear()
    world.sick.clear()
    world.run(120.0)
    assert world.status.attempt == 2


def test_a_job_that_goes_on_over_a_failed_gpu_is_left_alone() -> None:
    world = training()
    fails(world, LOST)
    world.run(120.0)
    assert world.status.attempt == 1
    assert world.status.incident is None


NOT_OURS = {
    "another GPU of the node": ELSEWHERE,
    "a GPU of another node": None,
}


@pytest.mark.parametrize("finding", NOT_OURS.values(), ids=NOT_OURS)
def test_a_failed_gpu_that_the_job_does_not_use_says_nothing_of_it(finding: Finding | None) -> None:
    world = training()
    busy(world)
    fails(world, finding or LOST, node="node2" if finding else "node7")
    world.run(20.0)
    assert world.status.attempt == 1
    assert world.status.attempt_stage == RUNNING


def test_where_it_is_not_known_who_uses_the_gpu_every_rank_of_the_node_is_a_suspect() -> None:
    world = training()
    world.places = {}
    busy(world)
    fails(world, LOST)
    world.run(20.0)
    entry = world.status.history[-1]
    assert (entry.node, entry.ranks) == ("node2", (2, 3))
    assert "where ranks 2 and 3 run, failed" in entry.message


def test_a_fault_of_the_whole_node_hits_all_of_its_ranks() -> None:
    world = training()
    busy(world)
    fails(world, MISSING)
    world.run(20.0)
    assert (world.status.history[-1].node, world.status.history[-1].ranks) == ("node2", (2, 3))


def exits(world: World, error: str) -> None:
    """Rank 2 ends with this exception, again and again at the same step."""

    def say(rank: wire.RankReport, now: float) -> wire.RankReport:
        tail = ["Traceback (most recent call last):", '  File "train.py", line 3, in <module>', error]
        return dataclasses.replace(rank, output_tail=tail) if rank.rank == 2 else rank

    world.launchers[1].exit_at = world.launchers[1].step + 1
    world.launchers[1].says = say


def test_a_rank_that_ends_since_its_gpu_failed_is_no_fault_of_the_program() -> None:
    world = training()
    fails(world, LOST)
    exits(world, "ValueError: what the program made of it")
    world.run(30.0)
    entry = world.status.history[-1]
    assert (entry.reason, entry.node, entry.fault, entry.fault_class) == ("RankExited", "node2", None, "Hardware")
    assert "Xid 79" in entry.message
    assert "node2" not in world.placements[2].nodes.values()


def test_an_exception_of_a_rank_that_may_be_on_another_gpu_is_its_own() -> None:
    world = training()
    world.places = {}
    fails(world, LOST)
    exits(world, "ValueError: what the program made of it")
    world.run(30.0)
    entry = world.status.history[-1]
    assert entry.fault is not None
    assert entry.fault_class == "Application"


def test_any_trouble_on_a_quarantined_node_leads_to_a_new_placement() -> None:
    world = training()
    world.quarantined["node2"] = "Xid79"
    exits(world, "ValueError: of its own")
    world.run(60.0)
    assert world.status.placement == 2
    assert "node2" not in world.placements[2].nodes.values()


def stopped(place: GPUPlace) -> Incident:
    """The incident of a rank that is stopped by a signal, and was last seen on this GPU."""
    world = World(make_job({"workers": 2, "ranksPerWorker": 1})).until(RUNNING).run(30.0)
    world.places = {1: place}
    world.launchers[1].frozen = True
    for _ in range(200):
        world.tick(0.5)
        if world.status.incident is not None:
            return world.status.incident
    raise AssertionError("it is never found")


def test_a_guilty_rank_whose_gpu_is_well_has_its_gpu_named_all_the_same() -> None:
    incident = stopped(GPUPlace(node="node2", index=3, uuid="GPU-3", pci="0000:03:00.0"))
    assert (incident.kind, incident.node) == ("RankStopped", "node2")
    assert incident.gpu == IncidentGPU(index=3, uuid="GPU-3", pci="0000:03:00.0")


def test_a_gpu_on_a_node_that_the_rank_has_left_is_not_named() -> None:
    incident = stopped(GPUPlace(node="node7", index=3))
    assert (incident.node, incident.gpu) == ("node2", None)
