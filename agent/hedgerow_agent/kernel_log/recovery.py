"""What the driver itself wants to be done about a GPU: Xid 154 and NVML's recovery action, one numbering."""

import re
from typing import NamedTuple

from hedgerow.wire_agent import (
    ACTION_APPLICATION,
    ACTION_IGNORE,
    ACTION_INSPECT,
    ACTION_REBOOT,
    ACTION_RESET,
    DEGRADED,
    FAILED,
    HEALTHY,
)

_CHANGED = re.compile(r"GPU recovery action changed from 0x[0-9a-fA-F]{1,8} \([^)]{0,60}\) to 0x([0-9a-fA-F]{1,8})\b")


class Recovery(NamedTuple):
    """words: as the driver names it."""

    words: str
    action: str
    health: str


# nvmlDeviceGpuRecoveryAction_t of nvml.h. Where a drain is asked for, what runs may go on to its end.
_ACTIONS = {
    0: Recovery("None", ACTION_IGNORE, HEALTHY),
    1: Recovery("GPU Reset Required", ACTION_RESET, FAILED),
    2: Recovery("Node Reboot Required", ACTION_REBOOT, FAILED),
    3: Recovery("Drain P2P", ACTION_APPLICATION, DEGRADED),
    4: Recovery("Drain and Reset", ACTION_RESET, DEGRADED),
    5: Recovery("Recover IMEX Domain", ACTION_INSPECT, DEGRADED),
    6: Recovery("Bus Reset", ACTION_RESET, FAILED),
    7: Recovery("System Reboot", ACTION_REBOOT, FAILED),
}


def recovery(number: int) -> Recovery:
    """What this number of the driver means; one that is not known is for a person to look at."""
    return _ACTIONS.get(number, Recovery(f"recovery action {number}", ACTION_INSPECT, DEGRADED))


def of_message(message: str) -> int | None:
    """The number that an Xid 154 changed to; None when the message is cut or says it otherwise."""
    match = _CHANGED.search(message)
    return int(match[1], 16) if match else None
