"""What each check says of a GPU, and what it does not say."""

from pathlib import Path
from typing import Any

import pytest

from hedgerow import gpu_reasons as reasons
from hedgerow.wire_agent import (
    ACTION_APPLICATION,
    ACTION_INSPECT,
    ACTION_REBOOT,
    ACTION_RESET,
    DEGRADED,
    FAILED,
    HEALTHS,
    HEALTHY,
    NOT_MEASURED,
    worst,
)
from hedgerow_agent.checks import gpu_checks
from tests.unit.hedgerow_agent.node import Node, gpus, story

LATER = {"at": 10}
# what happens to a GPU -> (steps, seconds to look on, what is then said)
SAID: dict[str, tuple[list[dict[str, Any]], float, tuple[str, str, str]]] = {
    "a power limit that somebody lowered": (
        [{**LATER, "set": {"power_limit_watts": 200}}], 20, (DEGRADED, reasons.POWER_LIMIT_LOWERED, ACTION_INSPECT)),
    "heat that lasts a minute": (
        [{**LATER, "set": {"temperature_celsius": 91}}], 100, (DEGRADED, reasons.TOO_HOT, ACTION_INSPECT)),
    "memory that is too hot for a minute": (
        [{**LATER, "set": {"memory_temperature_celsius": 96}}], 100,
        (DEGRADED, reasons.MEMORY_TOO_HOT, ACTION_INSPECT)),
    "clocks that heat holds down for a minute": (
        [{**LATER, "throttle_reasons": ["hw_thermal_slowdown", "sw_power_cap"]}], 100,
        (DEGRADED, reasons.CLOCKS_HELD_DOWN, ACTION_INSPECT)),
    "clocks that a power brake holds down": (
        [{**LATER, "throttle_reasons": ["hw_power_brake_slowdown"]}], 100,
        (DEGRADED, reasons.CLOCKS_HELD_DOWN, ACTION_INSPECT)),
    "an uncorrectable error where rows are not remapped": (
        [{**LATER, "set": {"ecc_volatile_uncorrectable_errors": 1}}], 20,
        (DEGRADED, reasons.UNCORRECTABLE_ECC, ACTION_RESET)),
    "SRAM that is worn out": (
        [{**LATER, "set": {"ecc_sram_threshold_exceeded": 1}}], 20, (FAILED, reasons.SRAM_WORN, ACTION_INSPECT)),
    "a row that could not be remapped": (
        [{**LATER, "set": {"remap_pending": 0, "remap_failed": 1}}], 20,
        (FAILED, reasons.REMAP_FAILED, ACTION_INSPECT)),
    "a page that waits for its retirement": (
        [{**LATER, "set": {"retired_pages_pending": 1}}], 20, (DEGRADED, reasons.RETIREMENT_PENDING, ACTION_RESET)),
    "a link that was up and is down": (
        [{**LATER, "set": {"nvlink_links_active": 11}}], 20, (DEGRADED, reasons.NVLINK_DOWN, ACTION_INSPECT)),
    "links that had to be recovered": (
        [{"at": 0, "set": {"nvlink_recovery_errors": 3}}, {**LATER, "set": {"nvlink_recovery_errors": 5}}], 20,
        (DEGRADED, reasons.NVLINK_ERRORS, ACTION_INSPECT)),
    "a bus that is narrower than it could be": (
        [{**LATER, "set": {"pcie_link_width": 8}}], 60, (DEGRADED, reasons.PCIE_REDUCED, ACTION_INSPECT)),
    "a bus that is slow while the GPU works": (
        [{**LATER, "set": {"pcie_link_generation": 1, "utilisation_percent": 90}}], 60,
        (DEGRADED, reasons.PCIE_REDUCED, ACTION_INSPECT)),
    "a bus that repeats itself": (
        [{**LATER, "set": {"pcie_replays": 500}}], 20, (DEGRADED, reasons.PCIE_REPLAYS, ACTION_INSPECT)),
    "MIG that is switched at the next reset": (
        [{**LATER, "set": {"mig_pending": 1}}], 20, (DEGRADED, reasons.MIG_CHANGE_PENDING, ACTION_RESET)),
    "a driver that wants the node rebooted": (
        [{**LATER, "set": {"recovery_action": 2}}], 20, (FAILED, reasons.RECOVERY_ACTION, ACTION_REBOOT)),
    "a driver that wants peer-to-peer traffic ended": (
        [{**LATER, "set": {"recovery_action": 3}}], 20, (DEGRADED, reasons.RECOVERY_ACTION, ACTION_APPLICATION)),
    "a GPU that refuses calls until it is reset": (
        [{**LATER, "set": {"reset_required": 1}}], 20, (FAILED, reasons.RESET_REQUIRED, ACTION_RESET)),
    "a GPU that is lost": ([{**LATER, "state": "Lost"}], 20, (FAILED, reasons.GPU_LOST, ACTION_REBOOT)),
    "a GPU that does not answer": (
        [{**LATER, "state": "Hung"}], 40, (NOT_MEASURED, reasons.GPU_SILENT, ACTION_INSPECT)),
}  # fmt: skip
NOT_SAID: dict[str, tuple[list[dict[str, Any]], float]] = {
    "a GPU at its power cap, as every busy one is": ([{**LATER, "throttle_reasons": ["sw_power_cap"]}], 100),
    "an idle GPU": ([{**LATER, "throttle_reasons": ["gpu_idle"], "set": {"pcie_link_generation": 1}}], 100),
    "a peak of heat": (
        [{**LATER, "set": {"temperature_celsius": 91}}, {"at": 40, "set": {"temperature_celsius": 70}}], 100),
    "errors that were corrected": ([{**LATER, "set": {"ecc_volatile_correctable_errors": 9}}], 20),
    "errors of long ago": ([{"at": 0, "set": {"ecc_aggregate_uncorrectable_errors": 9}}], 20),
    "errors from before the agent looked": ([{"at": 0, "set": {"ecc_volatile_uncorrectable_errors": 2}}], 20),
    "links that are all down, as without a bridge": ([{"at": 0, "set": {"nvlink_links_active": 0}}], 20),
    "few replays": ([{**LATER, "set": {"pcie_replays": 5}}], 20),
    "a limit within what sites tune": ([{**LATER, "set": {"power_limit_watts": 450}}], 20),
    "links that are never used": ([{"at": 0, "set": {"nvlink_links": 18}}], 20),
    "a limit that all GPUs have": ([{**LATER, "set": {"power_limit_watts": 200}}], 20),
    "a busy GPU": ([{**LATER, "set": {"utilisation_percent": 100, "power_watts": 499}}], 100),
    "counters that begin anew": (
        [{"at": 0, "set": {"nvlink_recovery_errors": 7}}, {**LATER, "set": {"nvlink_recovery_errors": 0}}], 20),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_it_is_said_of(case: str, tmp_path: Path) -> None:
    steps, seconds, said = SAID[case]
    node = Node(tmp_path, story(2, *[{"gpu": 1, **step} for step in steps]))
    assert node.report().health == HEALTHY
    node.looks(seconds)
    (finding,) = node.findings()
    assert (finding.health, finding.reason, finding.action) == said
    assert finding.gpu == 1
    assert node.gpu(1).health == worst([finding.health])
    assert node.gpu(0).health == HEALTHY


@pytest.mark.parametrize("case", NOT_SAID)
def test_nothing_is_said_of(case: str, tmp_path: Path) -> None:
    steps, seconds = NOT_SAID[case]
    node = Node(tmp_path, story(2, *steps))
    node.looks(seconds)
    assert node.findings() == []


def test_a_bus_that_is_narrower_than_those_of_the_others_is_said(tmp_path: Path) -> None:
    node = Node(tmp_path, story(3, {"at": 0, "gpu": 2, "set": {"pcie_link_width": 4}}))
    node.looks(60)
    assert [(one.gpu, one.reason) for one in node.findings()] == [(2, reasons.PCIE_REDUCED)]


def test_recoveries_of_long_ago_are_forgotten(tmp_path: Path) -> None:
    node = Node(tmp_path, story(1, {"at": 10, "set": {"nvlink_recovery_errors": 5}}, nvlink_recovery_errors=0))
    node.looks(30)
    assert node.findings(reasons.NVLINK_ERRORS)
    node.looks(1500, every=100)
    assert node.findings() == []


def test_a_fault_that_ends_is_said_no_more(tmp_path: Path) -> None:
    node = Node(
        tmp_path, story(1, {"at": 10, "set": {"pcie_link_width": 8}}, {"at": 60, "set": {"pcie_link_width": 16}})
    )
    node.looks(50)
    assert node.report().health == DEGRADED
    node.looks(30)
    assert node.report().health == HEALTHY


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("utilisation_percent", 101),
        ("temperature_celsius", 900),
        ("temperature_celsius", -300),
        ("power_watts", -1),
        ("memory_used_bytes", 2.0**60),
        ("power_watts", float("inf")),
        ("remap_pending", 2),
    ],
)
def test_a_value_out_of_its_range_is_dropped_and_counted(tmp_path: Path, name: str, value: float) -> None:
    node = Node(tmp_path, gpus(1, **{name: value}))
    node.look(1)
    assert name not in node.gpu(0).values
    assert node.report().dropped == {name: 2}
    assert node.report().health == HEALTHY


@pytest.mark.parametrize("name", [check.name for check in gpu_checks()])
@pytest.mark.parametrize("half", ["sample", "judge", "supported"])
def test_one_broken_check_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, half: str) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("out of order")

    (kind,) = [type(check) for check in gpu_checks() if check.name == name]
    monkeypatch.setattr(kind, half, breaks)
    others = {"mig": {"retired_pages_pending": 1}}
    fault = others.get(name, {"mig_pending": 1})
    everything = {"remap_pending": 0, "remap_failed": 0, **fault}
    node = Node(tmp_path, {"gpus": [{"profile": "a100", "processes": [], "values": everything}]})
    assert node.report().broken == {name: "GPU 0: RuntimeError: out of order"}
    assert len(node.findings()) == 1


def test_healths_are_ordered_from_good_to_bad() -> None:
    assert [worst([one, HEALTHY]) for one in HEALTHS] == list(HEALTHS)
    assert worst([]) == HEALTHY
