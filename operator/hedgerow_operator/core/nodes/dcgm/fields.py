"""Which of dcgm-exporter's metrics mean what here, and in which units.

Source: default-counters.csv and METRICS.md of github.com/NVIDIA/dcgm-exporter, dcgm_fields.h and dcgm_structs.h of
github.com/NVIDIA/DCGM. Left out are metrics whose unit differs from version to version (PCIE_*_THROUGHPUT,
NVLINK_BANDWIDTH_TOTAL).
"""

from collections.abc import Mapping

_MIB = 2.0**20
_MEGA = 1e6

XID = "DCGM_FI_DEV_XID_ERRORS"  # code of the last one
XID_COUNT = "DCGM_EXP_XID_ERRORS_COUNT"  # by code, within a window that its label names
ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"  # since the driver was loaded: rises as long as anybody looks
POWER = "DCGM_FI_DEV_POWER_USAGE"
_USED, _FREE, _RESERVED, _TOTAL = (f"DCGM_FI_DEV_FB_{word}" for word in ("USED", "FREE", "RESERVED", "TOTAL"))
_MEMORY_TEMPERATURE = "DCGM_FI_DEV_MEMORY_TEMP"
_RETIRED_PENDING = "DCGM_FI_DEV_RETIRED_PENDING"
_CRC = ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL")

# Their name -> ours, and what a number is multiplied by.
_SAME: dict[str, tuple[str, float]] = {
    "DCGM_FI_DEV_GPU_UTIL": ("utilisation_percent", 1.0),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("memory_utilisation_percent", 1.0),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("graphics_activity_percent", 100.0),
    "DCGM_FI_PROF_SM_ACTIVE": ("sm_activity_percent", 100.0),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("tensor_activity_percent", 100.0),
    "DCGM_FI_PROF_PCIE_TX_BYTES": ("pcie_transmitted_bytes_per_second", 1.0),
    "DCGM_FI_PROF_PCIE_RX_BYTES": ("pcie_received_bytes_per_second", 1.0),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": ("nvlink_transmitted_bytes_per_second", 1.0),
    "DCGM_FI_PROF_NVLINK_RX_BYTES": ("nvlink_received_bytes_per_second", 1.0),
    _USED: ("memory_used_bytes", _MIB),
    _TOTAL: ("memory_total_bytes", _MIB),
    POWER: ("power_watts", 1.0),
    "DCGM_FI_DEV_POWER_MGMT_LIMIT": ("power_limit_watts", 1.0),
    "DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF": ("power_default_limit_watts", 1.0),
    "DCGM_FI_DEV_GPU_TEMP": ("temperature_celsius", 1.0),
    _MEMORY_TEMPERATURE: ("memory_temperature_celsius", 1.0),
    "DCGM_FI_DEV_SLOWDOWN_TEMP": ("slowdown_temperature_celsius", 1.0),
    "DCGM_FI_DEV_SHUTDOWN_TEMP": ("shutdown_temperature_celsius", 1.0),
    "DCGM_FI_DEV_SM_CLOCK": ("sm_clock_hertz", _MEGA),
    "DCGM_FI_DEV_MEM_CLOCK": ("memory_clock_hertz", _MEGA),
    "DCGM_FI_DEV_MAX_SM_CLOCK": ("highest_sm_clock_hertz", _MEGA),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": ("ecc_volatile_correctable_errors", 1.0),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("ecc_volatile_uncorrectable_errors", 1.0),
    "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL": ("ecc_aggregate_correctable_errors", 1.0),
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL": ("ecc_aggregate_uncorrectable_errors", 1.0),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": ("remapped_rows_correctable", 1.0),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": ("remapped_rows_uncorrectable", 1.0),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": ("remap_failed", 1.0),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": ("remap_pending", 1.0),
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": ("nvlink_replay_errors", 1.0),
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": ("nvlink_recovery_errors", 1.0),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("pcie_replays", 1.0),
    "DCGM_FI_DEV_PCIE_LINK_GEN": ("pcie_link_generation", 1.0),
    "DCGM_FI_DEV_PCIE_LINK_WIDTH": ("pcie_link_width", 1.0),
    "DCGM_FI_DEV_PCIE_MAX_LINK_GEN": ("pcie_highest_link_generation", 1.0),
    "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH": ("pcie_highest_link_width", 1.0),
}
KNOWN = frozenset([*_SAME, *_CRC, XID, XID_COUNT, ENERGY, _FREE, _RESERVED, _RETIRED_PENDING])
# In a line that names a MIG instance these are of the instance; all others are of the whole GPU, whatever the line.
OF_INSTANCE = frozenset(
    [_USED, _FREE, _RESERVED, _TOTAL, "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL"]
    + [name for name in KNOWN if name.startswith("DCGM_FI_PROF_")]
)
# dcgm_structs.h: DCGM_INT32_BLANK, DCGM_FP64_BLANK and DCGM_INT64_BLANK, and the reasons counted up from them.
_BLANKS = ((0x7FFFFFF0, 0x7FFFFFFF), (2.0**47, 2.0**47 + 15), (0x7FFFFFFFFFFFFFF0, 2.0**63))


def number(word: str) -> float | None:
    """The number that is written there; None where DCGM says by it that it has none, or it is no number."""
    try:
        value = float(word)
    except ValueError:
        return None
    blank = value != value or any(lowest <= value <= highest for lowest, highest in _BLANKS)
    return None if blank else value


def values(raw: Mapping[str, float]) -> dict[str, float]:
    """Named and measured as in wire_agent.GPU_VALUES. raw: by DCGM's names; none of them is blank."""
    found = {ours: raw[theirs] * factor for theirs, (ours, factor) in _SAME.items() if theirs in raw}
    if _TOTAL not in raw and all(name in raw for name in (_USED, _FREE, _RESERVED)):
        found["memory_total_bytes"] = (raw[_USED] + raw[_FREE] + raw[_RESERVED]) * _MIB
    if not raw.get(_MEMORY_TEMPERATURE):
        found.pop("memory_temperature_celsius", None)  # boards without such a sensor say 0
    if _RETIRED_PENDING in raw:
        found["retired_pages_pending"] = min(1.0, raw[_RETIRED_PENDING])
    crc = [raw[name] for name in _CRC if name in raw]
    return {**found, "nvlink_crc_errors": sum(crc)} if crc else found
