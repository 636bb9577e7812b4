"""What values and events of a GPU say against it, whoever measured them: the node agent, or an exporter of others.

Each judgement takes values named as in ``wire_agent.GPU_VALUES`` and gives findings without a GPU's index.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from hedgerow import gpu_reasons as reasons
from hedgerow.wire_agent import (
    ACTION_INSPECT,
    ACTION_REBOOT,
    ACTION_RESET,
    DEGRADED,
    FAILED,
    Finding,
    GpuEvent,
)

# After so long without another message, an event is no reason any more to hold anything back: what still ails a GPU is
# seen otherwise, and a GPU that was reset without the driver's word would stay out for ever.
HOLD_SECONDS = 3600.0
ECC_WINDOW_SECONDS = 1800.0
LINK_WINDOW_SECONDS = 600.0
# Some replays are usual (NVIDIA calls a rate of several a minute worth a look).
_MANY_REPLAYS = 100.0


class Rising:
    """A counter that should not rise: by how much it has, within the last ``window`` seconds or twice that."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._marks: List[Tuple[float, float]] = []

    def rise(self, value: Optional[float], now: float) -> float:
        """How much it rose; a counter that went back was begun anew, and one that is not told says nothing."""
        if value is None:
            return 0.0
        if not self._marks or value < self._marks[-1][1]:
            self._marks = [(now, value)]
        elif now - self._marks[-1][0] >= self._window:
            self._marks = [self._marks[-1], (now, value)]
        return value - self._marks[0][1]


def of_event(event: GpuEvent) -> List[Finding]:
    """What a message of the driver says against a GPU; those that are about programs say nothing against it."""
    if not event.fatal and event.action not in (ACTION_RESET, ACTION_REBOOT, ACTION_INSPECT):
        return []
    health = FAILED if event.fatal else DEGRADED
    reason = "%s%d" % (event.kind, event.code)
    place = " at %s" % event.pci if event.pci else ""
    times = ", %d times" % event.count if event.count > 1 else ""
    words = "%s %d (%s)%s%s" % (event.kind, event.code, event.meaning, place, times)
    return [Finding(event.kind.lower(), health, reason, event.action, words, event.gpu, event.first_age)]


def of_remapping(values: Dict[str, float]) -> List[Finding]:
    """Rows and pages: pending asks for a reset at the next chance, failed for another board.

    Source: NVIDIA GPU memory error management (docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt), row remapping.
    """
    found = []
    if values.get("remap_failed") == 1.0:
        words = "a row could not be remapped: the board is to be replaced"
        found.append(Finding("remap", FAILED, reasons.REMAP_FAILED, ACTION_INSPECT, words))
    if values.get("remap_pending") == 1.0:
        words = "a row is remapped at the next reset; what runs may go on until then"
        found.append(Finding("remap", DEGRADED, reasons.REMAP_PENDING, ACTION_RESET, words))
    if values.get("retired_pages_pending") == 1.0:
        words = "a page is retired at the next reset; what runs may go on until then"
        found.append(Finding("remap", DEGRADED, reasons.RETIREMENT_PENDING, ACTION_RESET, words))
    return found


def of_uncorrectable(rise: float, values: Dict[str, float]) -> List[Finding]:
    """Uncorrectable memory errors lately; where the driver remaps rows they are answered, and no fault."""
    if rise <= 0 or ("remap_pending" in values and "remap_failed" in values):
        return []
    words = "%.0f uncorrectable memory errors lately, on a GPU that does not say that rows were remapped" % rise
    return [Finding("ecc", DEGRADED, reasons.UNCORRECTABLE_ECC, ACTION_RESET, words)]


def of_link_recoveries(rise: float) -> List[Finding]:
    """NVLinks that had to be recovered lately. Replays and CRC errors alone are repaired."""
    if rise <= 0:
        return []
    words = "NVLinks had to be recovered %.0f times lately" % rise
    return [Finding("nvlink", DEGRADED, reasons.NVLINK_ERRORS, ACTION_INSPECT, words)]


def of_replays(rise: float) -> List[Finding]:
    """Many packets of the PCIe bus that had to be repeated lately."""
    if rise < _MANY_REPLAYS:
        return []
    words = "%.0f PCIe packets had to be repeated lately" % rise
    return [Finding("pcie", DEGRADED, reasons.PCIE_REPLAYS, ACTION_INSPECT, words)]
