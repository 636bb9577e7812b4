"""What others say of nodes: evidence where a rank stands still or ends, and a reason to avoid them; never more."""

from __future__ import annotations

import dataclasses

import pytest

from hedgerow import wire
from hedgerow_operator.api import reasons
from hedgerow_operator.api.node_signals import PRESETS, NodeSignalSpec, Preset
from hedgerow_operator.core.attempt_actions import MOST_AVOIDED
from hedgerow_operator.core.nodes.signals import NodeLooks, Signal, sentence, signals_of
from hedgerow_operator.core.step import RUNNING
from tests.unit.core.builders import make_job
from tests.unit.core.nodes.test_hardware_faults import busy, exits
from tests.unit.core.test_orders_of_users import no_room
from tests.unit.core.world import World

SAID = "its condition GpuUnhealthy is True (Xid79)"
LOOKS = NodeLooks(
    conditions={"Ready": ("True", "KubeletReady"), "GpuUnhealthy": ("True", "Xid79"), "KernelDeadlock": ("False", "")},
    taints=frozenset({"example.org/broken"}),
    labels={"pool": "gpu", "example.org/health": "bad"},
)

SAYS = {
    "a condition that is True": (NodeSignalSpec(condition_type="GpuUnhealthy"), SAID),
    "a condition that is False": (NodeSignalSpec(condition_type="KernelDeadlock"), ""),
    "a condition whose False is the bad one": (
        NodeSignalSpec(condition_type="KernelDeadlock", status="False"),
        "its condition KernelDeadlock is False",
    ),
    "a condition that is not there": (NodeSignalSpec(condition_type="XfsShutdown", status="Unknown"), ""),
    "a taint": (NodeSignalSpec(taint_key="example.org/broken"), "it has the taint example.org/broken"),
    "a taint that it has not": (NodeSignalSpec(taint_key="example.org/brok"), ""),
    "a label of any value": (NodeSignalSpec(label="pool"), "it has the label pool=gpu"),
    "a label of this value": (
        NodeSignalSpec(label="example.org/health=bad"),
        "it has the label example.org/health=bad",
    ),
    "a label of another value": (NodeSignalSpec(label="example.org/health=good"), ""),
    "a label of no value": (NodeSignalSpec(label="pool="), ""),
    "a label that it has not": (NodeSignalSpec(label="health"), ""),
}


@pytest.mark.parametrize(("spec", "expected"), SAYS.values(), ids=SAYS)
def test_what_a_node_says(spec: NodeSignalSpec, expected: str) -> None:
    (signal,) = signals_of([spec])
    assert sentence(signal, LOOKS) == expected


PRESET_NODES: dict[str, tuple[Preset, NodeLooks]] = {
    "a kernel that hangs": ("NodeProblemDetector", NodeLooks(conditions={"KernelDeadlock": ("True", "DockerHung")})),
    "an Xid in the system's log": ("NVSentinel", NodeLooks(conditions={"SysLogsXIDError": ("True", "")})),
    "a node that is being drained": (
        "NVSentinel",
        NodeLooks(labels={"dgxc.nvidia.com/nvsentinel-state": "draining"}),
    ),
    "a node that waits to be replaced": (
        "HyperPod",
        NodeLooks(labels={"sagemaker.amazonaws.com/node-health-status": "UnschedulablePendingReplacement"}),
    ),
}


@pytest.mark.parametrize(("preset", "looks"), PRESET_NODES.values(), ids=PRESET_NODES)
def test_a_preset_knows_its_tools_broken_nodes(preset: Preset, looks: NodeLooks) -> None:
    assert any(sentence(signal, looks) for signal in signals_of([NodeSignalSpec(preset=preset)]))


WELL = NodeLooks(
    conditions={
        "Ready": ("True", ""),
        "DiskPressure": ("False", ""),
        "KernelDeadlock": ("False", "KernelHasNoDeadlock"),
        "GpuMemWatch": ("False", "GpuMemWatchIsHealthy"),
        "NVSwitchNonFatalError": ("True", ""),
        "CSPMaintenance": ("True", ""),
    },
    labels={
        "sagemaker.amazonaws.com/node-health-status": "Schedulable",
        "sagemaker.amazonaws.com/deep-health-check-status": "InProgress",
        "dgxc.nvidia.com/nvsentinel-state": "remediation-succeeded",
    },
)


@pytest.mark.parametrize("preset", PRESETS)
def test_no_preset_speaks_against_a_node_that_works(preset: Preset) -> None:
    assert [text for signal in signals_of([NodeSignalSpec(preset=preset)]) if (text := sentence(signal, WELL))] == []


def test_what_is_wanted_twice_is_looked_for_once() -> None:
    twice = [NodeSignalSpec(preset="NodeProblemDetector"), NodeSignalSpec(condition_type="KernelDeadlock")]
    assert signals_of(twice).count(Signal("condition", "KernelDeadlock", "True")) == 1


def training() -> World:
    return World(make_job({"workers": 2, "ranksPerWorker": 2})).until(RUNNING).run(30.0)


def test_a_job_that_goes_on_where_others_speak_against_its_node_is_left_alone() -> None:
    world = training()
    world.signals["node2"] = SAID
    world.run(300.0)
    assert (world.status.attempt, world.status.incident) == (1, None)


def test_a_standstill_past_its_deadline_on_such_a_node_is_acted_on_though_everybody_computes() -> None:
    world = training()
    busy(world)
    world.signals["node2"] = SAID
    world.run(60.0)
    entry = world.status.history[-1]
    assert (entry.reason, entry.node, entry.fault_class) == (reasons.HARDWARE_FAULT, "node2", "Hardware")
    assert f"node node2, where ranks 2 and 3 run, is not to be used: {SAID}" in entry.message
    assert "node2" not in world.placements[2].nodes.values()


def test_a_standstill_elsewhere_is_not() -> None:
    world = training()
    busy(world)
    world.signals["node7"] = SAID
    world.run(60.0)
    assert world.status.attempt == 1


def test_before_its_deadline_a_standstill_on_such_a_node_is_only_watched() -> None:
    world = World(make_job({"workers": 2, "ranksPerWorker": 2, "health": {"stall": {"minSeconds": 120}}}))
    world.until(RUNNING).run(30.0)
    busy(world)
    world.signals["node2"] = SAID
    world.run(100.0)
    assert world.status.attempt == 1


def test_a_rank_that_ended_there_for_no_reason_of_its_own_is_the_nodes() -> None:
    world = training()
    world.signals["node2"] = SAID
    world.launchers[1].exit_at = world.launchers[1].step + 1

    def say(rank: wire.RankReport, now: float) -> wire.RankReport:
        return dataclasses.replace(rank, output_tail=["killed"]) if rank.rank == 2 else rank

    world.launchers[1].says = say
    world.run(30.0)
    assert world.status.history[-1].fault_class == "Hardware"
    assert SAID in world.status.history[-1].message


def test_an_exception_of_the_program_stays_its_own() -> None:
    world = training()
    world.signals["node2"] = SAID
    exits(world, "ValueError: of its own")
    world.run(30.0)
    assert world.status.history[-1].fault_class == "Application"
    assert "node2" not in world.placements[2].nodes.values()


def test_a_job_that_waits_for_room_is_placed_anew_once_nothing_is_said_any_more() -> None:
    world = training()
    world.on_placement = lambda placement: no_room(placement) if placement.avoided else None
    world.signals["node2"] = SAID
    busy(world)
    world.run(120.0)
    assert (world.status.attempt, world.placements[2].avoided) == (2, ("node2",))
    world.signals.clear()
    world.run(60.0)
    assert (world.status.attempt, world.status.attempt_stage) == (2, RUNNING)
    assert "node2" in world.placements[2].nodes.values()


def test_nodes_that_agents_and_that_others_speak_against_are_avoided_alike() -> None:
    world = training()
    world.signals["node2"], world.quarantined["node3"] = SAID, "Xid79"
    busy(world)
    world.run(60.0)
    assert world.placements[2].avoided == ("node2", "node3")


def test_a_placement_does_not_grow_beyond_measure_where_others_speak_against_a_whole_cluster() -> None:
    world = World(make_job({"workers": 2, "ranksPerWorker": 2}))
    world.signals = {f"far{number}": SAID for number in range(5000)}
    world.until(RUNNING).run(30.0)
    assert len(world.placements[1].avoided) == MOST_AVOIDED
    assert (world.status.attempt, world.status.attempt_stage) == (1, RUNNING)
