"""What `nvidia-smi -q -x` prints, as the values of this agent. N/A and the like are absent, never 0."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any, NamedTuple

from hedgerow.pci import pci_address
from hedgerow_agent.devices.base import Identity, Instance, Process, Values

_NUMBER = re.compile(r"^(-?\d+(?:\.\d+)?)\s*(%|W|mW|C|MHz|GHz|MiB|KiB|GiB|B|KB/s|MB/s|x)?$")
_UNITS = {"MHz": 1e6, "GHz": 1e9, "mW": 1e-3, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "KB/s": 1e3, "MB/s": 1e6}
_SWITCHES = {"Yes": 1.0, "No": 0.0, "Enabled": 1.0, "Disabled": 0.0, "Active": 1.0, "Not Active": 0.0}

# Value of ours -> paths where versions of nvidia-smi have it; the first that holds a number counts.
_PATHS: dict[str, tuple[str, ...]] = {
    "utilisation_percent": ("utilization/gpu_util",),
    "memory_utilisation_percent": ("utilization/memory_util",),
    "memory_used_bytes": ("fb_memory_usage/used",),
    "memory_total_bytes": ("fb_memory_usage/total",),
    "power_watts": (
        "gpu_power_readings/instant_power_draw",
        "gpu_power_readings/power_draw",
        "power_readings/power_draw",
    ),
    "power_limit_watts": (
        "gpu_power_readings/current_power_limit",
        "power_readings/enforced_power_limit",
        "power_readings/power_limit",
    ),
    "power_default_limit_watts": ("gpu_power_readings/default_power_limit", "power_readings/default_power_limit"),
    "temperature_celsius": ("temperature/gpu_temp",),
    "memory_temperature_celsius": ("temperature/memory_temp",),
    "slowdown_temperature_celsius": ("temperature/gpu_temp_slow_threshold",),
    "shutdown_temperature_celsius": ("temperature/gpu_temp_max_threshold",),
    "highest_memory_temperature_celsius": ("temperature/gpu_temp_max_mem_threshold",),
    "sm_clock_hertz": ("clocks/sm_clock",),
    "memory_clock_hertz": ("clocks/mem_clock",),
    "highest_sm_clock_hertz": ("max_clocks/sm_clock",),
    "ecc_sram_threshold_exceeded": ("ecc_errors/aggregate/sram_threshold_exceeded",),
    "remapped_rows_correctable": ("remapped_rows/remapped_row_corr",),
    "remapped_rows_uncorrectable": ("remapped_rows/remapped_row_unc",),
    "remap_pending": ("remapped_rows/remapped_row_pending",),
    "remap_failed": ("remapped_rows/remapped_row_failure",),
    "retired_pages_pending": ("retired_pages/pending_retirement", "retired_pages/pending_blacklist"),
    "reset_required": ("gpu_reset_status/reset_required",),
    "pcie_transmitted_bytes_per_second": ("pci/tx_util",),
    "pcie_received_bytes_per_second": ("pci/rx_util",),
    "pcie_replays": ("pci/replay_counter",),
    "pcie_link_generation": ("pci/pci_gpu_link_info/pcie_gen/current_link_gen",),
    "pcie_link_width": ("pci/pci_gpu_link_info/link_widths/current_link_width",),
    "pcie_highest_link_generation": ("pci/pci_gpu_link_info/pcie_gen/max_link_gen",),
    "pcie_highest_link_width": ("pci/pci_gpu_link_info/link_widths/max_link_width",),
    "mig_enabled": ("mig_mode/current_mig",),
    "mig_pending": ("mig_mode/pending_mig",),
}
# Errors of either memory and of either kind are summed.
_SUMS: dict[str, tuple[str, ...]] = {
    f"ecc_{when}_{kind}_errors": tuple(f"ecc_errors/{when}/{memory}_{kind}" for memory in ("sram", "dram"))
    + tuple(f"ecc_errors/{when}/sram_{kind}_{how}" for how in ("parity", "secded"))
    for when in ("volatile", "aggregate")
    for kind in ("correctable", "uncorrectable")
}
_THROTTLE = ("clocks_event_reasons", "clocks_throttle_reasons")
_THROTTLE_PREFIX = re.compile(r"^clocks_(?:event|throttle)_reason_")


class Described(NamedTuple):
    """One GPU of an nvidia-smi report."""

    identity: Identity
    values: Values
    throttle_reasons: list[str] | None
    processes: list[Process] | None
    instances: list[Instance]


def number(text: str | None) -> float | None:
    """The number in nvidia-smi's words, in base units; None for N/A, None, unknown, Unsupported and all other words."""
    text = (text or "").strip()
    if text in _SWITCHES:
        return _SWITCHES[text]
    match = _NUMBER.match(text)
    return None if match is None else float(match[1]) * _UNITS.get(match[2] or "", 1.0)


def read(text: str) -> tuple[str, list[Described]]:
    """(driver version, the GPUs); ValueError says in one sentence what is wrong."""
    try:
        top = ElementTree.fromstring(text)  # noqa: S314 (a file that the one who runs this chose)
    except ElementTree.ParseError as error:
        raise ValueError(f"this is not what nvidia-smi -q -x prints: {error}") from None
    found = [_gpu(index, gpu) for index, gpu in enumerate(top.findall("gpu"))]
    return (top.findtext("driver_version") or "").strip(), found


def _gpu(index: int, gpu: Any) -> Described:
    identity = Identity(
        index=index,
        uuid=_word(gpu, "uuid"),
        pci=pci_address(gpu.get("id", "")),
        name=_word(gpu, "product_name"),
        serial=_word(gpu, "serial"),
    )
    return Described(identity, _values(gpu), _throttle_reasons(gpu), _processes(gpu), _instances(gpu))


def _word(element: Any, path: str) -> str:
    text = (element.findtext(path) or "").strip()
    return "" if text in ("N/A", "None", "Unknown Error") else text


def _values(element: Any) -> Values:
    found = {}
    for name, paths in _PATHS.items():
        numbers = [entry for path in paths if (entry := number(element.findtext(path))) is not None]
        if numbers:
            found[name] = numbers[0]
    for name, paths in _SUMS.items():
        numbers = [entry for path in paths if (entry := number(element.findtext(path))) is not None]
        if numbers:
            found[name] = sum(numbers)
    return found


def _throttle_reasons(gpu: Any) -> list[str] | None:
    for name in _THROTTLE:
        block = gpu.find(name)
        if block is not None and len(block):
            return [_THROTTLE_PREFIX.sub("", entry.tag) for entry in block if (entry.text or "").strip() == "Active"]
    return None


def _processes(gpu: Any) -> list[Process] | None:
    block = gpu.find("processes")
    if block is None:
        return None
    return [
        Process(int(pid), _whole(entry.findtext("used_memory")), _whole(entry.findtext("gpu_instance_id")))
        for entry in block.findall("process_info")
        if "C" in (entry.findtext("type") or "") and (pid := number(entry.findtext("pid"))) is not None
    ]


def _instances(gpu: Any) -> list[Instance]:
    return [
        Instance(
            index=_whole(entry.findtext("index")) or 0,
            gpu_instance=_whole(entry.findtext("gpu_instance_id")),
            compute_instance=_whole(entry.findtext("compute_instance_id")),
            values={name: value for name, value in _values(entry).items() if name.startswith("memory_")},
        )
        for entry in gpu.findall("mig_devices/mig_device")
    ]


def _whole(text: str | None) -> int | None:
    found = number(text)
    return None if found is None else int(found)
