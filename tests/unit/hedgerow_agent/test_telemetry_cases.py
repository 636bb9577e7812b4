"""Cases that other projects met, each by its name in the public list of telemetry cases, with its right answer."""

import json
import re
from pathlib import Path

import pytest

from hedgerow import gpu_reasons as reasons
from hedgerow.wire_agent import (
    ACTION_INSPECT,
    ACTION_REBOOT,
    ACTION_RESET,
    DEGRADED,
    FAILED,
    GPU_LOST,
    GPU_PRESENT,
    GPU_SILENT,
    HEALTHY,
)
from hedgerow_agent import metrics
from hedgerow_agent.devices.smi_text import unreachable
from hedgerow_agent.devices.smi_xml import number
from hedgerow_operator.api.recovery import HealthSpec
from hedgerow_operator.core.deadlines import deadline
from hedgerow_operator.core.slowdown import SlowdownWatch
from tests.unit.hedgerow_agent.node import Node, gpus, story


def test_t05_no_xid_at_all_is_neither_an_outage_nor_a_fault(tmp_path: Path) -> None:
    node = Node(tmp_path, gpus(2))
    assert (node.report().events, node.findings(), node.report().health) == ([], [], HEALTHY)
    assert "kernel_messages" not in metrics.text(node.report())


def test_t06_with_mig_there_is_no_utilisation_of_the_gpu_but_activity_of_its_instances(tmp_path: Path) -> None:
    instances = [{"gpu_instance": 3, "values": {"graphics_activity_percent": 80}}, {"gpu_instance": 4, "values": {}}]
    node = Node(tmp_path, {"gpus": [{"profile": "a100-mig", "instances": instances}]})
    gpu = node.gpu(0)
    assert "utilisation_percent" not in gpu.values
    assert [one.values.get("graphics_activity_percent") for one in gpu.instances] == [80.0, None]
    text = metrics.text(node.report())
    assert "hedgerow_gpu_utilisation_ratio" not in text
    assert 'instance="0"} 0.8' in text
    assert node.report().health == HEALTHY


def test_t07_one_lost_gpu_does_not_end_the_listing_of_the_others(tmp_path: Path) -> None:
    node = Node(tmp_path, story(4, {"at": 10, "gpu": 2, "state": "Lost"}))
    node.look(20)
    assert [gpu.state for gpu in node.report().gpus] == [GPU_PRESENT, GPU_PRESENT, GPU_LOST, GPU_PRESENT]
    assert [(one.gpu, one.health) for one in node.findings()] == [(2, FAILED)]
    assert node.gpu(3).values["power_watts"] > 0


def test_t08_a_gpu_of_which_nothing_speaks_any_more_is_missed_by_count(tmp_path: Path) -> None:
    node = Node(tmp_path, story(8, {"at": 10, "gpu": 5, "state": "Unlisted"}))
    node.look(20)
    assert (node.gpu(5).state, node.gpu(5).pci, node.gpu(5).values) == (GPU_LOST, "0000:06:00.0", {})
    late = Node(tmp_path, story(8, {"at": 0, "gpu": 5, "state": "Unlisted"}))
    assert [(one.reason, one.health) for one in late.findings()] == [(reasons.GPU_MISSING, FAILED)]
    words = "Unable to determine the device handle for GPU 000:BA:80.0: Unknown Error"
    assert [tuple(one) for one in unreachable(words)] == [("0000:ba:80.0", "Unknown Error")]


def test_t10_fewer_gpus_than_device_files_is_fatal(tmp_path: Path) -> None:
    node = Node(tmp_path, gpus(7), expected=8)
    (finding,) = node.findings()
    assert (finding.health, finding.reason, finding.action) == (FAILED, reasons.GPU_MISSING, ACTION_REBOOT)
    assert "8 GPUs, and 7 are listed" in finding.message


def test_t12_values_that_freeze_expire(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 10, "gpu": 1, "state": "Hung"}))
    assert node.gpu(1).values["power_watts"] == 67.03
    node.looks(30)
    assert (node.gpu(1).state, node.gpu(1).values) == (GPU_SILENT, {})
    assert node.gpu(0).values["power_watts"] == 67.03
    assert 'hedgerow_gpu_power_watts{gpu="1"' not in metrics.text(node.report())


def test_t13_a_pending_remap_wants_a_reset_at_the_next_chance_and_is_not_fatal(tmp_path: Path) -> None:
    node = Node(tmp_path, gpus(1, remapped_rows_correctable=0, remapped_rows_uncorrectable=4, remap_pending=1,
                               remap_failed=0))  # fmt: skip
    (finding,) = node.findings()
    assert (finding.health, finding.reason, finding.action) == (DEGRADED, reasons.REMAP_PENDING, ACTION_RESET)


def test_t14_uncorrectable_errors_whose_row_was_remapped_are_not_unhealthy(tmp_path: Path) -> None:
    values = {"remapped_rows_uncorrectable": 1, "remap_pending": 0, "remap_failed": 0}
    fresh = {"at": 10, "set": {"ecc_volatile_uncorrectable_errors": 3, "ecc_aggregate_uncorrectable_errors": 3}}
    node = Node(tmp_path, story(1, fresh, **values))
    node.look(20)
    assert node.gpu(0).values["ecc_volatile_uncorrectable_errors"] == 3
    assert node.gpu(0).health == HEALTHY


def test_t17_unknown_error_after_normal_readings_is_hardware(tmp_path: Path) -> None:
    node = Node(tmp_path, story(2, {"at": 10, "gpu": 0, "state": "Unknown Error"}))
    assert node.gpu(0).values["temperature_celsius"] == 27
    node.look(20)
    (finding,) = node.findings()
    assert (finding.gpu, finding.health, finding.action) == (0, FAILED, ACTION_INSPECT)
    assert node.report().events == []


def test_t18_the_address_and_the_state_are_read_from_what_nvidia_smi_says(tmp_path: Path) -> None:
    state = "GPU is lost.  Reboot the system to recover this GPU"
    (said,) = unreachable(f"Unable to determine the device handle for GPU 0000:02:00.0: {state}")
    assert said.pci == "0000:02:00.0"
    node = Node(tmp_path, story(2, {"at": 10, "gpu": 1, "state": said.words}))
    node.look(20)
    assert (node.gpu(1).state, node.gpu(1).pci) == (GPU_LOST, said.pci)
    assert [one.action for one in node.findings()] == [ACTION_REBOOT]


@pytest.mark.parametrize("word", ["", "N/A", "None", "unknown", "Unsupported", "[Not Supported]", "ERR!"])
def test_t19_words_instead_of_numbers_are_unknown(tmp_path: Path, word: str) -> None:
    assert number(word) is None
    node = Node(tmp_path, gpus(1, temperature_celsius=word, utilisation_percent=word, memory_used_bytes=word))
    assert {"temperature_celsius", "utilisation_percent", "memory_used_bytes"}.isdisjoint(node.gpu(0).values)
    assert (node.report().health, node.report().broken) == (HEALTHY, {})


def test_t20_steps_that_become_fifteen_times_as_long_and_stay_so_are_told(tmp_path: Path) -> None:
    watch, now = SlowdownWatch(), 0.0
    for seconds in [1 / 4.18] * 400 + [3.62] * 200:
        now += seconds
        watch.add(now, seconds, ())
    assert watch.slow is not None
    node = Node(tmp_path, story(1, {"at": 10, "throttle_reasons": ["hw_thermal_slowdown"]}))
    node.looks(100)
    assert [(one.reason, one.health) for one in node.findings()] == [(reasons.CLOCKS_HELD_DOWN, DEGRADED)]


def test_t23_the_first_step_after_a_resume_has_a_budget_of_its_own() -> None:
    steps = {"step": {10: 4000}}
    assert deadline("first-step", steps, HealthSpec(), ranks=4) > 100 * deadline("step", steps, HealthSpec(), ranks=4)


@pytest.mark.shared_data
def test_every_case_of_the_public_list_has_a_test_of_its_name(shared_data: Path) -> None:
    cases = {case["id"] for case in json.loads((shared_data / "cases" / "gpu_telemetry_cases.json").read_text())}
    tested = set(re.findall(r"^def test_(t\d+)_", Path(__file__).read_text(), re.MULTILINE))
    assert cases == tested
