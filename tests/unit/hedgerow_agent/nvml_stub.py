"""The stub of NVML's library: built once a session, and looked at by an agent in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("nvml_stub.c")
SECONDS = 60
# An A100, as it answers the calls that nvidia-smi makes of it.
A100 = {
    "nvmlDeviceGetUUID": "GPU-513536b6-7d19-9063-b049-1e69664bb298",
    "nvmlDeviceGetPciInfo": "00000000:01:00.0",
    "nvmlDeviceGetName": "NVIDIA A100-SXM4-80GB",
    "nvmlDeviceGetSerial": "1650522003820",
    "nvmlDeviceGetUtilizationRates.0": 97,
    "nvmlDeviceGetUtilizationRates.1": 41,
    "nvmlDeviceGetMemoryInfo.0": 85899345920,
    "nvmlDeviceGetMemoryInfo.1": 52428800,
    "nvmlDeviceGetPowerUsage": 67030,
    "nvmlDeviceGetEnforcedPowerLimit": 500000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 500000,
    "nvmlDeviceGetTemperature.0": 27,
    "nvmlDeviceGetTemperatureThreshold.0": 92,
    "nvmlDeviceGetTemperatureThreshold.1": 89,
    "nvmlDeviceGetTemperatureThreshold.2": 95,
    "field.82": 44,
    "nvmlDeviceGetClockInfo.1": 1275,
    "nvmlDeviceGetClockInfo.2": 1593,
    "nvmlDeviceGetMaxClockInfo.1": 1410,
    "nvmlDeviceGetCurrentClocksThrottleReasons": 0x44,
    "nvmlDeviceGetTotalEccErrors.0.0": 3,
    "nvmlDeviceGetTotalEccErrors.1.0": 0,
    "nvmlDeviceGetTotalEccErrors.0.1": 5,
    "nvmlDeviceGetTotalEccErrors.1.1": 1,
    "nvmlDeviceGetRemappedRows": "2 1 0 0",
    "nvmlDeviceGetPcieThroughput.0": 4000,
    "nvmlDeviceGetPcieThroughput.1": 12,
    "nvmlDeviceGetPcieReplayCounter": 0,
    "nvmlDeviceGetCurrPcieLinkGeneration": 4,
    "nvmlDeviceGetCurrPcieLinkWidth": 16,
    "nvmlDeviceGetMaxPcieLinkGeneration": 4,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
    "nvmlDeviceGetMigMode.0": 0,
    "nvmlDeviceGetMigMode.1": 0,
    "nvmlDeviceGetComputeRunningProcesses": "4321:1053818880 4322",
    "field.91": 2,
    "nvmlDeviceGetNvLinkState.0": 1,
    "nvmlDeviceGetNvLinkState.1": 1,
    "field.138": 1024,
    "field.139": 2048,
    "field.38": 1,
    "field.45": 2,
    "field.52": 4,
    "field.59": 0,
    "field.230": 0,
}


def build(folder: Path) -> Path:
    """Compile it; the folder that holds libnvidia-ml.so.1."""
    assert shutil.which("gcc"), "these tests need the compiler gcc: apt-get install gcc"
    command = [
        "gcc",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Werror",
        "-O1",
        "-o",
        str(folder / "libnvidia-ml.so.1"),
        str(SOURCE),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def answers(count: int = 2, **more: Any) -> dict[str, Any]:
    """What the library answers for so many GPUs like that one. more: names with dots as two underscores."""
    found: dict[str, Any] = {
        "nvmlSystemGetDriverVersion": "535.54.03",
        "nvmlSystemGetNVMLVersion": "12.535.54.03",
        "nvmlDeviceGetCount": count,
    }
    for index in range(count):
        for name, value in A100.items():
            function, *rest = name.split(".")
            found[".".join([function, str(index), *rest])] = value
        found[f"nvmlDeviceGetUUID.{index}"] = f"{A100['nvmlDeviceGetUUID']}-{index}"
        found[f"nvmlDeviceGetPciInfo.{index}"] = f"00000000:{index + 1:02X}:00.0"
    return found | {name.replace("__", "."): value for name, value in more.items()}


def write(path: Path, content: dict[str, Any]) -> None:
    """Put answers into the file, whole or not at all."""
    fresh = path.with_suffix(".new")
    fresh.write_text("".join(f"{name} = {value}\n" for name, value in content.items()))
    fresh.rename(path)


def environment(library: Path | None, path: Path) -> dict[str, str]:
    """Of a process that finds the stub (or none) and these answers."""
    found = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return found | {"NVML_STUB": str(path)} | ({"LD_LIBRARY_PATH": str(library)} if library else {})


def once(library: Path | None, path: Path) -> dict[str, Any]:
    """What one look of the real command reports."""
    command = [sys.executable, "-m", "hedgerow_agent", "--once", "-o", "json", "--kernel-log", "none"]
    run = subprocess.run(
        command, env=environment(library, path), capture_output=True, text=True, timeout=SECONDS, check=True
    )
    assert run.stderr == ""
    report: dict[str, Any] = json.loads(run.stdout)
    return report
