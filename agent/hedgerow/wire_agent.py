"""The wire format between node agents and the operator: what one node's GPUs and kernel say, complete in each report.

An agent encodes with :func:`encode_report`, which leaves out what is at its default; the operator decodes the same
classes with msgspec. Unknown fields pass, an unknown ``version`` is refused. A value that could not be measured is
absent, never 0. Ages are seconds by the sender's own clock (CLOCK_BOOTTIME).
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Dict, List, Optional, Tuple

from hedgerow.plain import plain

VERSION = 1
AGENT_REPORTS_PATH = "/v1/agent-reports"
CALM_SECONDS = 5.0

HEALTHY = "Healthy"
NOT_MEASURED = "NotMeasured"  # neither healthy nor sick: it could not be looked at
DEGRADED = "Degraded"  # works, and needs a look or a reset at the next chance; says nothing against the running job
FAILED = "Failed"  # what runs on it cannot be trusted to go on: decisive evidence
HEALTHS = (HEALTHY, NOT_MEASURED, DEGRADED, FAILED)  # from good to bad

ACTION_IGNORE = "Ignore"
ACTION_APPLICATION = "Application"  # look at the program and start it again
ACTION_RESET = "Reset"
ACTION_REBOOT = "Reboot"
ACTION_INSPECT = "Inspect"  # a person has to look at the machine
ACTIONS = (ACTION_IGNORE, ACTION_APPLICATION, ACTION_RESET, ACTION_REBOOT, ACTION_INSPECT)  # from light to heavy

GPU_PRESENT = "Present"
GPU_LOST = "Lost"  # the driver lists it no more, or cannot reach it
GPU_SILENT = "Silent"  # no call about it was answered in time: nothing is known

EVENT_XID = "Xid"
EVENT_SXID = "SXid"

_SWITCH = (0.0, 1.0)
_PERCENT = (0.0, 100.0)
_COUNT = (0.0, 2.0**63)
_BYTES = (0.0, 2.0**50)
_CELSIUS = (-40.0, 150.0)
_WATTS = (0.0, 5000.0)
_HERTZ = (0.0, 1e10)
_RATE = (0.0, 1e13)

# Name of each value of a GPU -> lowest and highest that can be true. What lies outside is dropped and counted.
GPU_VALUES: Dict[str, Tuple[float, float]] = {
    "utilisation_percent": _PERCENT,
    "memory_utilisation_percent": _PERCENT,
    "graphics_activity_percent": _PERCENT,
    "sm_activity_percent": _PERCENT,
    "tensor_activity_percent": _PERCENT,
    "memory_used_bytes": _BYTES,
    "memory_total_bytes": _BYTES,
    "power_watts": _WATTS,
    "power_limit_watts": _WATTS,
    "power_default_limit_watts": _WATTS,
    "temperature_celsius": _CELSIUS,
    "memory_temperature_celsius": _CELSIUS,
    "slowdown_temperature_celsius": _CELSIUS,
    "shutdown_temperature_celsius": _CELSIUS,
    "highest_memory_temperature_celsius": _CELSIUS,
    "sm_clock_hertz": _HERTZ,
    "memory_clock_hertz": _HERTZ,
    "highest_sm_clock_hertz": _HERTZ,
    "ecc_volatile_correctable_errors": _COUNT,
    "ecc_volatile_uncorrectable_errors": _COUNT,
    "ecc_aggregate_correctable_errors": _COUNT,
    "ecc_aggregate_uncorrectable_errors": _COUNT,
    "ecc_sram_threshold_exceeded": _SWITCH,
    "remapped_rows_correctable": (0.0, 1e6),
    "remapped_rows_uncorrectable": (0.0, 1e6),
    "remap_pending": _SWITCH,
    "remap_failed": _SWITCH,
    "retired_pages_pending": _SWITCH,
    "reset_required": _SWITCH,
    "recovery_action": (0.0, 7.0),
    "nvlink_links": (0.0, 128.0),
    "nvlink_links_active": (0.0, 128.0),
    "nvlink_transmitted_bytes": _COUNT,
    "nvlink_received_bytes": _COUNT,
    "nvlink_transmitted_bytes_per_second": _RATE,
    "nvlink_received_bytes_per_second": _RATE,
    "nvlink_crc_errors": _COUNT,
    "nvlink_replay_errors": _COUNT,
    "nvlink_recovery_errors": _COUNT,
    "pcie_transmitted_bytes_per_second": _RATE,
    "pcie_received_bytes_per_second": _RATE,
    "pcie_replays": _COUNT,
    "pcie_link_generation": (1.0, 16.0),
    "pcie_link_width": (1.0, 32.0),
    "pcie_highest_link_generation": (1.0, 16.0),
    "pcie_highest_link_width": (1.0, 32.0),
    "mig_enabled": _SWITCH,
    "mig_pending": _SWITCH,
}

# The same of the machine around the GPUs.
HOST_VALUES: Dict[str, Tuple[float, float]] = {
    "memory_total_bytes": _BYTES,
    "memory_available_bytes": _BYTES,
    "memory_pressure_some_percent": _PERCENT,
    "memory_pressure_full_percent": _PERCENT,
    "oom_kills": _COUNT,
    "clock_offset_seconds": (-1e6, 1e6),
    "clock_synchronised": _SWITCH,
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that a check has to say. gpu: index on the node, None: it is about the whole node.

    reason: CamelCase. message: one sentence for a person. age: seconds since it was first so.
    """

    check: str
    health: str
    reason: str
    action: str
    message: str
    gpu: Optional[int] = None
    age: float = 0.0


@dataclasses.dataclass(frozen=True)
class GpuProcess:
    """A process that uses a GPU. pid: as the driver says it, on the host; container_pid: the same in its own namespace.

    job and rank are those of its environment, where that could be read: so ranks are found without any mapping.
    devices: its CUDA_VISIBLE_DEVICES. instance: MIG GPU instance.
    """

    pid: int
    memory_bytes: Optional[int] = None
    container_pid: Optional[int] = None
    job: str = ""
    rank: Optional[int] = None
    attempt: Optional[int] = None
    devices: Optional[str] = None
    instance: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class GpuContainer:
    """A container of Kubernetes that a GPU was given to, where whoever measures it knows that."""

    namespace: str
    pod: str
    container: str = ""


@dataclasses.dataclass(frozen=True)
class MigInstance:
    """One MIG device. values: names as in GPU_VALUES."""

    index: int
    gpu_instance: Optional[int] = None
    compute_instance: Optional[int] = None
    uuid: str = ""
    values: Dict[str, float] = dataclasses.field(default_factory=dict)
    containers: List[GpuContainer] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class GpuReport:
    """One GPU. pci: like 0000:9b:00.0. age: seconds since the values were read; values that grew old are left out.

    throttle_reasons: why its clocks are below what they could be; None: not told. processes: likewise.
    containers: those that it was given to as a whole; dcgm-exporter knows them, our agent knows the processes.
    """

    index: int
    state: str = GPU_PRESENT
    uuid: str = ""
    pci: str = ""
    name: str = ""
    serial: str = ""
    health: str = HEALTHY
    age: float = 0.0
    values: Dict[str, float] = dataclasses.field(default_factory=dict)
    throttle_reasons: Optional[List[str]] = None
    processes: Optional[List[GpuProcess]] = None
    instances: List[MigInstance] = dataclasses.field(default_factory=list)
    containers: List[GpuContainer] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class GpuEvent:
    """Messages of one code about one device in the kernel log, together. kind: Xid or SXid (of an NVSwitch).

    gpu: index where the address is one of this node's GPUs. age and first_age: seconds since the last and first.
    action: what it asks for, after Xid 154 where the driver said so itself. fatal: the GPU is not to be trusted.
    recovered: the driver said since that nothing is to be done any more, or was loaded anew.
    """

    kind: str
    code: int
    pci: str
    gpu: Optional[int] = None
    count: int = 1
    age: float = 0.0
    first_age: float = 0.0
    meaning: str = ""
    action: str = ACTION_INSPECT
    fatal: bool = False
    recovered: bool = False
    pid: Optional[int] = None
    process: str = ""
    message: str = ""


@dataclasses.dataclass(frozen=True)
class DiskReport:
    """The file system of a checkpoint path. error: why nothing is known of it (it does not answer, it is not there)."""

    path: str
    free_bytes: Optional[int] = None
    total_bytes: Optional[int] = None
    free_files_percent: Optional[float] = None
    error: str = ""


@dataclasses.dataclass(frozen=True)
class LinkReport:
    """A network interface or InfiniBand port (kind: Ethernet, InfiniBand). Counters since it came up."""

    name: str
    kind: str
    up: Optional[bool] = None
    bytes_per_second: Optional[float] = None
    received_bytes: Optional[int] = None
    transmitted_bytes: Optional[int] = None
    errors: Optional[int] = None
    downs: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class HostReport:
    """The machine around the GPUs. values: names as in HOST_VALUES."""

    values: Dict[str, float] = dataclasses.field(default_factory=dict)
    disks: List[DiskReport] = dataclasses.field(default_factory=list)
    links: List[LinkReport] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class DriverReport:
    """Where the readings come from. trouble: why there are none, in a sentence; empty: they come.

    expected: GPUs that the kernel's driver holds by the file system; None: not known. reloads: since the agent began.
    """

    source: str = ""
    version: str = ""
    library: str = ""
    trouble: str = ""
    expected: Optional[int] = None
    reloads: int = 0


@dataclasses.dataclass(frozen=True)
class AgentReport:
    """What one node's agent knows. agent: random name of this agent process. boot: kernel boot id.

    health: the worst of the findings; NotMeasured also where no GPU could be looked at.
    dropped: value name -> how many readings were out of their range. broken: check -> what went wrong in it last.
    kernel_log: where Xids are read from, or why they are not.
    """

    node: str
    boot: str
    agent: str
    seq: int
    sent_monotonic: float
    sent_wall: float
    version: int = VERSION
    host: str = ""
    health: str = NOT_MEASURED
    driver: DriverReport = DriverReport()
    gpus: List[GpuReport] = dataclasses.field(default_factory=list)
    findings: List[Finding] = dataclasses.field(default_factory=list)
    events: List[GpuEvent] = dataclasses.field(default_factory=list)
    around: HostReport = HostReport()
    dropped: Dict[str, int] = dataclasses.field(default_factory=dict)
    broken: Dict[str, str] = dataclasses.field(default_factory=dict)
    kernel_log: str = ""


@dataclasses.dataclass(frozen=True)
class AgentAnswer:
    """The operator's reply. interval_seconds: when the next report is due in calm."""

    interval_seconds: float = CALM_SECONDS
    version: int = VERSION
    message: str = ""


def worst(healths: List[str]) -> str:
    """The worst of these; Healthy where there is none."""
    return max(healths, key=HEALTHS.index, default=HEALTHY)


def in_range(
    values: Dict[str, float], ranges: Dict[str, Tuple[float, float]], dropped: Dict[str, int]
) -> Dict[str, float]:
    """The values that can be true, the others counted in ``dropped``: clamping would make up a measurement."""
    kept = {}
    for name, value in values.items():
        lowest, highest = ranges[name]
        if math.isfinite(value) and lowest <= value <= highest:
            kept[name] = float(value)
        else:
            dropped[name] = dropped.get(name, 0) + 1
    return kept


def encode_report(report: AgentReport) -> bytes:
    """JSON bytes without what is at its default: a node of 8 GPUs has some ten kilobytes."""
    return json.dumps(plain(report), separators=(",", ":"), allow_nan=False).encode()


def decode_answer(data: bytes) -> AgentAnswer:
    """The AgentAnswer in ``data``; ValueError says in one sentence what is wrong."""
    fields = json.loads(data.decode())
    if not isinstance(fields, dict):
        raise ValueError("expected a JSON object")
    if fields.get("version") != VERSION:
        raise ValueError("answer has version %r; this agent understands %d" % (fields.get("version"), VERSION))
    return AgentAnswer(float(fields.get("interval_seconds", CALM_SECONDS)), VERSION, str(fields.get("message", "")))
