"""NVLink through NVML: sums over all links, by whichever fields this generation of GPU fills."""

from hedgerow_agent.devices.base import Values
from hedgerow_agent.devices.nvml_calls import Calls

# Field ids of nvml.h. Where a driver sums over links itself, the scope is all of them.
_LINK_COUNT = 91
_ALL = 0xFFFFFFFF
_DATA_TRANSMITTED, _DATA_RECEIVED = 138, 139  # KiB
_SENT_BYTES, _RECEIVED_BYTES = 202, 204  # a link, Blackwell
_CRC = (38, 45)  # flits and data, summed over lanes
_REPLAY, _RECOVERY = 52, 59
_LINK_REPLAY, _LINK_RECOVERY, _LINK_CRC = 161, 162, 163  # a link, Hopper and later
_MOST_LINKS = 36


def nvlink(calls: Calls) -> Values:
    """Links, bytes and errors; nothing where the GPU has no NVLink."""
    count = int(calls.fields([_LINK_COUNT])[0] or 0)
    if not 0 < count <= _MOST_LINKS:
        return {}
    states = [calls.ask("nvmlDeviceGetNvLinkState", link) for link in range(count)]
    known = [state for state in states if state is not None]
    found: Values = {"nvlink_links": count}
    if known:
        found["nvlink_links_active"] = sum(known)
    return found | _bytes(calls, count) | _errors(calls, count)


def _bytes(calls: Calls, count: int) -> Values:
    names = ("nvlink_transmitted_bytes", "nvlink_received_bytes")
    sums = calls.fields([(_DATA_TRANSMITTED, _ALL), (_DATA_RECEIVED, _ALL)])
    numbers = [None if one is None else one * 1024 for one in sums]
    if None in numbers:
        numbers = [_over_links(calls, field, count) for field in (_SENT_BYTES, _RECEIVED_BYTES)]
    return {name: number for name, number in zip(names, numbers, strict=True) if number is not None}


def _errors(calls: Calls, count: int) -> Values:
    flits, data, replay, recovery = calls.fields([*_CRC, _REPLAY, _RECOVERY])
    crc = None if flits is None and data is None else (flits or 0.0) + (data or 0.0)
    found = {
        "nvlink_crc_errors": crc if crc is not None else _over_links(calls, _LINK_CRC, count),
        "nvlink_replay_errors": replay if replay is not None else _over_links(calls, _LINK_REPLAY, count),
        "nvlink_recovery_errors": recovery if recovery is not None else _over_links(calls, _LINK_RECOVERY, count),
    }
    return {name: number for name, number in found.items() if number is not None}


def _over_links(calls: Calls, field: int, count: int) -> float | None:
    known = [one for one in calls.fields([(field, link) for link in range(count)]) if one is not None]
    return sum(known) if known else None
