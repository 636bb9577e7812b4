"""NVML for real: nvidia-ml-py over a library that answers its C calls with recorded values, or is not there."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow import gpu_reasons as reasons
from tests.unit.hedgerow_agent import nvml_stub
from tests.unit.hedgerow_agent.nvml_stub import answers
from tests.unit.hedgerow_agent.polling import until


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the stub."""
    return nvml_stub.build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def said(tmp_path: Path) -> Path:
    """The file with the answers."""
    nvml_stub.write(tmp_path / "answers", answers())
    return tmp_path / "answers"


def reason_of(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["health"], one["reason"]) for one in report["findings"]]


def test_every_value_of_a_gpu_is_read_in_base_units(library: Path, said: Path) -> None:
    report = nvml_stub.once(library, said)
    gpu = report["gpus"][1]
    assert (gpu["index"], gpu["uuid"][-2:], gpu["pci"], gpu["name"]) == (
        1,
        "-1",
        "0000:02:00.0",
        "NVIDIA A100-SXM4-80GB",
    )
    assert gpu["values"] == {
        "utilisation_percent": 97, "memory_utilisation_percent": 41, "memory_used_bytes": 52428800,
        "memory_total_bytes": 85899345920, "power_watts": 67.03, "power_limit_watts": 500,
        "power_default_limit_watts": 500, "temperature_celsius": 27, "slowdown_temperature_celsius": 89,
        "shutdown_temperature_celsius": 92, "highest_memory_temperature_celsius": 95, "memory_temperature_celsius": 44,
        "sm_clock_hertz": 1275e6, "memory_clock_hertz": 1593e6, "highest_sm_clock_hertz": 1410e6,
        "ecc_volatile_correctable_errors": 3, "ecc_volatile_uncorrectable_errors": 0,
        "ecc_aggregate_correctable_errors": 5, "ecc_aggregate_uncorrectable_errors": 1,
        "remapped_rows_correctable": 2, "remapped_rows_uncorrectable": 1, "remap_pending": 0, "remap_failed": 0,
        "pcie_transmitted_bytes_per_second": 4e6, "pcie_received_bytes_per_second": 12e3, "pcie_replays": 0,
        "pcie_link_generation": 4, "pcie_link_width": 16, "pcie_highest_link_generation": 4,
        "pcie_highest_link_width": 16, "mig_enabled": 0, "mig_pending": 0, "nvlink_links": 2, "nvlink_links_active": 2,
        "nvlink_transmitted_bytes": 1024 * 1024, "nvlink_received_bytes": 2048 * 1024, "nvlink_crc_errors": 3,
        "nvlink_replay_errors": 4, "nvlink_recovery_errors": 0, "recovery_action": 0,
    }  # fmt: skip
    assert gpu["throttle_reasons"] == ["sw_power_cap", "hw_thermal_slowdown"]
    assert gpu["processes"] == [{"pid": 4321, "memory_bytes": 1053818880}, {"pid": 4322}]
    assert (report["health"], report["driver"]["version"], "broken" in report) == ("Healthy", "535.54.03", False)


def test_what_the_library_does_not_support_is_absent(library: Path, said: Path) -> None:
    bare = {name: value for name, value in answers(1).items() if "UUID" in name or "PciInfo" in name or "." not in name}
    nvml_stub.write(said, bare)
    (gpu,) = nvml_stub.once(library, said)["gpus"]
    assert "values" not in gpu
    assert "processes" not in gpu


def test_a_lost_gpu_does_not_end_the_listing(library: Path, said: Path) -> None:
    nvml_stub.write(said, answers(4, nvmlDeviceGetHandleByIndex__2="error 15"))
    report = nvml_stub.once(library, said)
    assert [gpu.get("state", "Present") for gpu in report["gpus"]] == ["Present", "Present", "Lost", "Present"]
    assert reason_of(report) == [("Failed", reasons.GPU_LOST)]


def test_a_gpu_that_answers_every_call_with_an_unknown_error_is_gone(library: Path, said: Path) -> None:
    who = ("nvmlDeviceGetUUID.0", "nvmlDeviceGetPciInfo.0", "nvmlDeviceGetName.0")
    silent = {name: "error 999" for name in answers(1) if ".0" in name and name not in who}
    nvml_stub.write(said, answers(1) | silent)
    report = nvml_stub.once(library, said)
    assert reason_of(report) == [("Failed", reasons.GPU_LOST)]


def test_a_value_out_of_its_range_is_dropped_and_counted(library: Path, said: Path) -> None:
    nvml_stub.write(said, answers(1, nvmlDeviceGetTemperature__0__0=4294967295, nvmlDeviceGetPowerUsage__0=99999999))
    report = nvml_stub.once(library, said)
    assert report["dropped"] == {"temperature_celsius": 2, "power_watts": 2}
    assert report["health"] == "Healthy"


def test_mig_instances_have_values_of_their_own(library: Path, said: Path) -> None:
    instance = {"nvmlDeviceGetMemoryInfo.1000.0": 1000, "nvmlDeviceGetMemoryInfo.1000.1": 10,
                "nvmlDeviceGetGpuInstanceId.1000": 3, "nvmlDeviceGetComputeInstanceId.1000": 0,
                "nvmlDeviceGetUUID.1000": "MIG-1"}  # fmt: skip
    on = answers(1, nvmlDeviceGetMigMode__0__0=1, nvmlDeviceGetMigMode__0__1=1, nvmlDeviceGetMaxMigDeviceCount__0=1)
    gone = {"nvmlDeviceGetUtilizationRates.0.0": "error 3"}
    nvml_stub.write(said, on | instance | gone)
    (gpu,) = nvml_stub.once(library, said)["gpus"]
    assert "utilisation_percent" not in gpu["values"]
    assert gpu["instances"] == [
        {"index": 0, "gpu_instance": 3, "compute_instance": 0, "uuid": "MIG-1",
         "values": {"memory_used_bytes": 10, "memory_total_bytes": 1000}}]  # fmt: skip


def test_what_multiprocessors_do_is_known_between_two_looks(library: Path, said: Path) -> None:
    activity = {"gpm.0.1": 97.5, "gpm.0.2": 61.25, "gpm.0.5": 0.0}
    nvml_stub.write(said, answers(1, nvmlGpmQueryDeviceSupport__0=1) | activity)
    (gpu,) = nvml_stub.once(library, said)["gpus"]
    names = ("graphics_activity_percent", "sm_activity_percent", "tensor_activity_percent")
    assert [gpu["values"][name] for name in names] == [97.5, 61.25, 0]


def test_what_a_mig_instance_does_stands_for_the_utilisation_that_its_gpu_has_not(library: Path, said: Path) -> None:
    on = answers(1, nvmlDeviceGetMigMode__0__0=1, nvmlDeviceGetMigMode__0__1=1, nvmlDeviceGetMaxMigDeviceCount__0=1,
                 nvmlGpmQueryDeviceSupport__0=1)  # fmt: skip
    instance = {"nvmlDeviceGetGpuInstanceId.1000": 3, "gpm.0.1.3": 80.5}
    nvml_stub.write(said, on | instance)
    (gpu,) = nvml_stub.once(library, said)["gpus"]
    assert [one["values"] for one in gpu["instances"]] == [{"graphics_activity_percent": 80.5}]


TROUBLES = {
    "no library": (None, {}, "libnvidia-ml.so.1 is not here"),
    "no driver": ("stub", {"nvmlInitWithFlags": "error 9"}, "the NVIDIA driver is not loaded"),
    "another version": ("stub", {"nvmlInitWithFlags": "error 18"}, "have different versions"),
    "no permission": ("stub", {"nvmlInitWithFlags": "error 4"}, "may not be opened"),
    "something else": ("stub", {"nvmlInitWithFlags": "error 20"}, "NVML cannot begin: "),
    "a library that hangs": ("stub", {"nvmlInitWithFlags": "hang"}, "not asked yet"),
}


@pytest.mark.parametrize("case", TROUBLES)
def test_the_trouble_is_said_and_nothing_is_called_sick(library: Path, said: Path, case: str) -> None:
    place, more, words = TROUBLES[case]
    nvml_stub.write(said, answers(2) | more)
    report = nvml_stub.once(library if place else None, said)
    assert words in report["driver"]["trouble"]
    assert report.get("health", "NotMeasured") == "NotMeasured"
    assert reason_of(report) == [("NotMeasured", reasons.DRIVER_MISSING)]


@pytest.fixture
def running(library: Path, said: Path) -> Iterator[subprocess.Popen[str]]:
    """An agent that looks ten times a second and serves its metrics."""
    command = [sys.executable, "-m", "hedgerow_agent", "--metrics-address", "127.0.0.1:0", "--kernel-log", "none",
               "--sample-seconds", "0.1"]  # fmt: skip
    process = subprocess.Popen(
        command, env=nvml_stub.environment(library, said), stderr=subprocess.PIPE, text=True, bufsize=1
    )
    with process:
        yield process
        process.kill()


def metrics_of(process: subprocess.Popen[str]) -> str:
    """Where it serves them."""
    assert process.stderr is not None
    port = next(line for line in process.stderr if "metrics are served" in line).split()[-1]
    return f"http://127.0.0.1:{port}/metrics"


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=120) as answer:
        return str(answer.read().decode())


def test_an_agent_outlives_a_gpu_whose_calls_hang(running: subprocess.Popen[str], said: Path) -> None:
    url = metrics_of(running)
    until(lambda: 'hedgerow_gpu_power_watts{gpu="1"' in read(url))
    nvml_stub.write(said, answers(2, nvmlDeviceGetPowerUsage__1="hang"))
    until(lambda: 'hedgerow_gpu_power_watts{gpu="1"' not in read(url), 40)
    assert 'hedgerow_gpu_power_watts{gpu="0"' in read(url)
    assert running.poll() is None


LOOKS = """
from hedgerow_agent.devices.nvml import NvmlSource
source = NvmlSource()
source.open()
(device,) = source.devices()
print(sum("sm_activity_percent" in device.utilisation() for _ in range(100)))
"""


def test_samples_of_activity_are_given_back(library: Path, said: Path) -> None:
    nvml_stub.write(said, answers(1, nvmlGpmQueryDeviceSupport__0=1, gpm__0__2=50))
    environment = nvml_stub.environment(library, said)
    run = subprocess.run([sys.executable, "-c", LOOKS], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "99\n"


def test_an_agent_takes_new_handles_when_nvml_had_to_be_begun_anew(running: subprocess.Popen[str], said: Path) -> None:
    url = metrics_of(running)
    until(lambda: 'hedgerow_gpu_power_watts{gpu="1"' in read(url))
    nvml_stub.write(said, answers(2, nvmlDeviceGetCount="error 999"))
    until(lambda: "hedgerow_agent_driver_answers 0.0" in read(url), 40)
    nvml_stub.write(said, answers(2, nvmlDeviceGetPowerUsage__1=123000))
    until(lambda: "} 123" in read(url) and "hedgerow_agent_driver_answers 1.0" in read(url), 40)
    assert "hedgerow_agent_driver_reloads_total 0.0" in read(url)


def test_an_agent_begins_anew_when_its_library_does_not_fit_the_driver_any_more(
    running: subprocess.Popen[str], said: Path
) -> None:
    url = metrics_of(running)
    until(lambda: 'hedgerow_gpu_power_watts{gpu="1"' in read(url))
    calls = {"nvmlDeviceGetCount": "error 18", "nvmlInitWithFlags": "error 18"}
    nvml_stub.write(said, answers(2) | calls)
    fresh = metrics_of(running)
    assert running.poll() is None
    nvml_stub.write(said, answers(3))
    until(lambda: 'hedgerow_gpu_power_watts{gpu="2"' in read(fresh), 40)


def test_the_fake_of_the_package_and_the_stub_report_the_same_fields(library: Path, said: Path, tmp_path: Path) -> None:
    real = nvml_stub.once(library, said)
    fake = tmp_path / "fake.json"
    fake.write_text(json.dumps({"gpus": [{"profile": "a100", "count": 2, "processes": []}]}))
    command = [sys.executable, "-m", "hedgerow_agent", "--once", "-o", "json", "--devices", f"fake:{fake}"]
    played = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    assert set(played) - set(real) == set()
    assert set(played["gpus"][0]) - set(real["gpus"][0]) == set()
