"""GPUs through NVML: the package nvidia-ml-py, whose module is pynvml, imported when it is needed and not before."""

import importlib
from typing import Any

from hedgerow.pci import pci_address
from hedgerow_agent.devices.base import (
    Device,
    Gone,
    Identity,
    Instance,
    Missing,
    Process,
    Unavailable,
    Values,
    Versions,
)
from hedgerow_agent.devices.nvml_calls import Calls, unavailable
from hedgerow_agent.devices.nvml_gpm import Activity
from hedgerow_agent.devices.nvml_links import nvlink

_NO_INSTANCE = 0xFFFFFFFF
_SM, _MEMORY = 1, 2  # nvmlClockType_t
_CORRECTED, _UNCORRECTED = 0, 1  # nvmlMemoryErrorType_t
_VOLATILE, _AGGREGATE = 0, 1  # nvmlEccCounterType_t
_TRANSMITTED, _RECEIVED = 0, 1  # nvmlPcieUtilCounter_t
_SHUTDOWN, _SLOWDOWN, _MEMORY_HIGHEST = 0, 1, 2  # nvmlTemperatureThresholds_t
_MEMORY_TEMPERATURE, _RECOVERY_ACTION = 82, 230  # nvmlFieldValue ids, nvml.h
_REASONS = {
    0x1: "gpu_idle", 0x2: "applications_clocks_setting", 0x4: "sw_power_cap", 0x8: "hw_slowdown", 0x10: "sync_boost",
    0x20: "sw_thermal_slowdown", 0x40: "hw_thermal_slowdown", 0x80: "hw_power_brake_slowdown",
    0x100: "display_clocks_setting",
}  # fmt: skip


class NvmlSource:
    """Every GPU that NVML lists."""

    name = "nvml"

    def __init__(self) -> None:
        self._nvml: Any = None
        self._opened = False
        # NVML answered in this process before: a library that does not fit now was loaded before the driver changed.
        self.answered = False

    def open(self) -> Versions:
        """Begin with NVML; Unavailable says in a sentence what is missing, and what to do."""
        nvml = self._library()
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            raise unavailable(error) from None
        self._opened = self.answered = True
        calls = Calls(nvml, None)
        return Versions(calls.plain("nvmlSystemGetDriverVersion") or "", calls.plain("nvmlSystemGetNVMLVersion") or "")

    def devices(self) -> list[Device | Missing]:
        """Each index by itself: one that has no handle is Missing, the others are listed."""
        nvml = self._nvml
        try:
            count = nvml.nvmlDeviceGetCount()
        except nvml.NVMLError as error:
            raise unavailable(error) from None
        return [self._device(index) for index in range(count)]

    def close(self) -> None:
        """Let go of the driver."""
        if self._opened:
            self._opened = False
            try:
                self._nvml.nvmlShutdown()
            except self._nvml.NVMLError:
                return

    def _device(self, index: int) -> Device | Missing:
        try:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
            return NvmlDevice(self._nvml, handle, index)
        except self._nvml.NVMLError as error:
            return Missing(index, str(error))
        except Gone as error:
            return Missing(index, str(error))

    def _library(self) -> Any:
        if self._nvml is None:
            try:
                self._nvml = importlib.import_module("pynvml")
            except ImportError:
                raise Unavailable("nvidia-ml-py is not installed: pip install 'hedgerow[agent]'") from None
        return self._nvml


class NvmlDevice:
    """One GPU."""

    def __init__(self, nvml: Any, handle: Any, index: int) -> None:
        self._nvml = nvml
        self._calls = calls = Calls(nvml, handle)
        self._activity = Activity(nvml, handle)
        pci = calls.ask("nvmlDeviceGetPciInfo_v3")
        self.identity = Identity(
            index=index,
            uuid=calls.ask("nvmlDeviceGetUUID") or "",
            pci=pci_address(_word(pci.busId)) if pci is not None else "",
            name=calls.ask("nvmlDeviceGetName") or "",
            serial=calls.ask("nvmlDeviceGetSerial") or "",
        )

    def utilisation(self) -> Values:
        """Utilisation and memory; on Hopper and later also what its multiprocessors do."""
        self._calls.begin()
        found: Values = {}
        rates = self._calls.ask("nvmlDeviceGetUtilizationRates")
        if rates is not None:
            found = {"utilisation_percent": rates.gpu, "memory_utilisation_percent": rates.memory}
        memory = self._calls.ask("nvmlDeviceGetMemoryInfo")
        if memory is not None:
            found |= {"memory_used_bytes": memory.used, "memory_total_bytes": memory.total}
        return found | self._activity.whole()

    def power(self) -> Values:
        """NVML counts milliwatts."""
        return self._each(
            1e-3,
            power_watts=("nvmlDeviceGetPowerUsage",),
            power_limit_watts=("nvmlDeviceGetEnforcedPowerLimit",),
            power_default_limit_watts=("nvmlDeviceGetPowerManagementDefaultLimit",),
        )

    def temperature(self) -> Values:
        """Of the core; of memory where it has a sensor."""
        found = self._each(
            1.0,
            temperature_celsius=("nvmlDeviceGetTemperature", 0),
            slowdown_temperature_celsius=("nvmlDeviceGetTemperatureThreshold", _SLOWDOWN),
            shutdown_temperature_celsius=("nvmlDeviceGetTemperatureThreshold", _SHUTDOWN),
            highest_memory_temperature_celsius=("nvmlDeviceGetTemperatureThreshold", _MEMORY_HIGHEST),
        )
        if "temperature_celsius" not in found:
            # The call that later drivers have instead.
            found |= self._each(1.0, temperature_celsius=("nvmlDeviceGetTemperatureV", 0))
        memory = self._calls.fields([_MEMORY_TEMPERATURE])[0]
        return found if memory is None else found | {"memory_temperature_celsius": memory}

    def clocks(self) -> Values:
        """NVML counts megahertz."""
        return self._each(
            1e6,
            sm_clock_hertz=("nvmlDeviceGetClockInfo", _SM),
            memory_clock_hertz=("nvmlDeviceGetClockInfo", _MEMORY),
            highest_sm_clock_hertz=("nvmlDeviceGetMaxClockInfo", _SM),
        )

    def throttle_reasons(self) -> list[str] | None:
        """By the name that drivers since 535 have, else by the one before."""
        mask = self._calls.first("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
        return None if mask is None else [words for bit, words in _REASONS.items() if mask & bit]

    def ecc(self) -> Values:
        """Totals over all memories, and whether SRAM is worn out."""
        name = "nvmlDeviceGetTotalEccErrors"
        found = self._each(
            1.0,
            ecc_volatile_correctable_errors=(name, _CORRECTED, _VOLATILE),
            ecc_volatile_uncorrectable_errors=(name, _UNCORRECTED, _VOLATILE),
            ecc_aggregate_correctable_errors=(name, _CORRECTED, _AGGREGATE),
            ecc_aggregate_uncorrectable_errors=(name, _UNCORRECTED, _AGGREGATE),
        )
        worn = self._calls.sram_threshold_exceeded()
        return found if worn is None else found | {"ecc_sram_threshold_exceeded": worn}

    def remapped_rows(self) -> Values:
        """Row remapping of Ampere and later, page retirement of what was before."""
        found = self._each(1.0, retired_pages_pending=("nvmlDeviceGetRetiredPagesPendingStatus",))
        rows = self._calls.ask("nvmlDeviceGetRemappedRows")
        if rows is None:
            return found
        names = ("remapped_rows_correctable", "remapped_rows_uncorrectable", "remap_pending", "remap_failed")
        return found | dict(zip(names, rows, strict=True))

    def nvlink(self) -> Values:
        """Links, bytes, errors."""
        return nvlink(self._calls)

    def pcie(self) -> Values:
        """NVML counts thousands of bytes a second, over 20 ms in which the call waits."""
        throughput = "nvmlDeviceGetPcieThroughput"
        bytes_per_second = self._each(
            1e3,
            pcie_transmitted_bytes_per_second=(throughput, _TRANSMITTED),
            pcie_received_bytes_per_second=(throughput, _RECEIVED),
        )
        return bytes_per_second | self._each(
            1.0,
            pcie_replays=("nvmlDeviceGetPcieReplayCounter",),
            pcie_link_generation=("nvmlDeviceGetCurrPcieLinkGeneration",),
            pcie_link_width=("nvmlDeviceGetCurrPcieLinkWidth",),
            pcie_highest_link_generation=("nvmlDeviceGetMaxPcieLinkGeneration",),
            pcie_highest_link_width=("nvmlDeviceGetMaxPcieLinkWidth",),
        )

    def processes(self) -> list[Process] | None:
        """Those that compute, also through MPS."""
        computing = self._calls.first(
            "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"
        )
        if computing is None:
            return None
        shared = self._calls.ask("nvmlDeviceGetMPSComputeRunningProcesses_v3") or []
        return [_process(one) for one in (*computing, *shared)]

    def mig(self) -> Values:
        """Mode now and after the next reset."""
        modes = self._calls.ask("nvmlDeviceGetMigMode")
        return {} if modes is None else {"mig_enabled": modes[0], "mig_pending": modes[1]}

    def instances(self) -> list[Instance]:
        """Every MIG device, with its memory and, on Hopper and later, what it does."""
        found = []
        for index in range(self._calls.ask("nvmlDeviceGetMaxMigDeviceCount") or 0):
            handle = self._calls.ask("nvmlDeviceGetMigDeviceHandleByIndex", index)
            if handle is not None:
                found.append(self._instance(index, Calls(self._nvml, handle)))
        self._activity.forget_all_but({one.gpu_instance for one in found})
        return found

    def recovery(self) -> Values:
        """What the driver wants to be done; asked last, so that it is known whether anything was answered."""
        wanted = self._calls.fields([_RECOVERY_ACTION])[0]
        self._calls.end()
        found: Values = {} if wanted is None else {"recovery_action": wanted}
        return found | ({"reset_required": 1.0} if self._calls.reset_required else {})

    def _instance(self, index: int, calls: Calls) -> Instance:
        memory = calls.ask("nvmlDeviceGetMemoryInfo")
        values = {} if memory is None else {"memory_used_bytes": memory.used, "memory_total_bytes": memory.total}
        gpu_instance = calls.ask("nvmlDeviceGetGpuInstanceId")
        if gpu_instance is not None:
            values |= self._activity.instance(gpu_instance)
        compute_instance = calls.ask("nvmlDeviceGetComputeInstanceId")
        return Instance(index, gpu_instance, compute_instance, calls.ask("nvmlDeviceGetUUID") or "", values)

    def _each(self, unit: float, **wanted: tuple[Any, ...]) -> Values:
        found = {name: self._calls.ask(*call) for name, call in wanted.items()}
        return {name: value * unit for name, value in found.items() if value is not None}


def _word(text: Any) -> str:
    """Text of a structure: versions of pynvml give it as bytes or as str."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _process(one: Any) -> Process:
    instance = getattr(one, "gpuInstanceId", _NO_INSTANCE)
    return Process(one.pid, one.usedGpuMemory, None if instance in (None, _NO_INSTANCE) else instance)
