"""What each Xid means and asks for.

Source: NVIDIA's Xid catalogue (docs.nvidia.com/deploy/xid-errors, analyzing-xid-catalog), column "immediate action":
RESTART_APP is Application, RESET_GPU Reset, RESTART_BM and RESTART_VM Reboot, CHECK_MECHANICALS and CONTACT_SUPPORT
Inspect. Workflows are cut short to what they end with when nothing else is known.
"""

from typing import Dict, NamedTuple, Tuple

from hedgerow.wire_agent import ACTION_APPLICATION, ACTION_IGNORE, ACTION_INSPECT, ACTION_REBOOT, ACTION_RESET

_I, _A, _R, _B, _L = ACTION_IGNORE, ACTION_APPLICATION, ACTION_RESET, ACTION_REBOOT, ACTION_INSPECT
RECOVERY_CHANGED = 154
NVLINK5 = range(144, 151)


class Meaning(NamedTuple):
    """words: for a person. fatal: what runs on the GPU cannot be trusted to go on there."""

    words: str
    action: str
    fatal: bool


_TABLE: Dict[int, Tuple[str, str]] = {
    8: ("GPU stopped processing", _A),
    11: ("Invalid or corrupted push buffer stream", _A),
    13: ("Graphics engine exception, mostly an illegal access of the program", _A),
    14: ("Unused", _I),
    25: ("Invalid or illegal push buffer stream", _A),
    31: ("GPU memory page fault, mostly an illegal address of the program", _A),
    32: ("Invalid or corrupted push buffer stream", _A),
    37: ("Driver firmware error", _I),
    38: ("Driver firmware error", _I),
    39: ("Copy engine exception", _A),
    40: ("Copy engine exception", _A),
    41: ("Copy engine exception", _A),
    43: ("GPU stopped processing for this program", _I),
    44: ("Graphics engine fault during a context switch", _I),
    45: ("Clean-up after an earlier error", _I),
    46: ("GPU stopped processing", _R),
    48: ("Double-bit ECC error", _R),
    54: ("Auxiliary power is not connected to the board", _L),
    60: ("Video processor exception", _A),
    62: ("Internal micro-controller halt", _R),
    63: ("Memory remapping or page retirement recorded", _I),
    64: ("Memory remapping or page retirement could not be recorded", _R),
    66: ("Illegal access by the driver", _I),
    67: ("Illegal access by the driver", _I),
    68: ("Video decoder exception", _A),
    69: ("Graphics engine class error", _A),
    74: ("NVLink error", _R),
    78: ("Virtual GPU could not start", _L),
    79: ("GPU has fallen off the bus", _B),
    80: ("Corrupted data sent to the GPU", _A),
    82: ("JPEG engine error", _A),
    86: ("Optical flow engine exception", _A),
    92: ("High rate of single-bit ECC errors", _I),
    93: ("InfoROM wear limit exceeded, not fatal", _I),
    94: ("Contained memory error: only the program that touched it is affected", _A),
    95: ("Uncontained memory error", _R),
    106: ("SMBPBI test message", _I),
    107: ("SMBPBI test message", _I),
    108: ("NVLink remote translation error", _I),
    109: ("Context switch timed out", _R),
    110: ("Security fault", _R),
    119: ("GPU System Processor (GSP) did not answer in time", _R),
    120: ("GPU System Processor (GSP) error", _R),
    121: ("Chip-to-chip link error, corrected", _I),
    136: ("NVLink training failed", _R),
    137: ("NVLink privilege error, mostly of the program", _I),
    139: ("Optical flow engine error", _A),
    140: ("Unrecovered ECC error", _R),
    141: ("CUDA fast path error", _I),
    143: ("GPU could not be initialised", _R),
    144: ("NVLink error (SAW)", _R),
    145: ("NVLink error (RLW)", _R),
    146: ("NVLink error (TLW)", _R),
    147: ("NVLink error (TREX)", _R),
    148: ("NVLink error (NVLPW)", _R),
    149: ("NVLink error (NETIR)", _R),
    150: ("NVLink error (MSE)", _R),
    151: ("Key rotation error", _B),
    152: ("Accelerator SMMU error", _I),
    153: ("Accelerator timed out", _I),
    154: ("The driver changed what is to be done about this GPU", _I),
    155: ("NVLink error found by software", _R),
    156: ("Resources retired", _R),
    157: ("Resources could not be retired", _I),
    158: ("GPU timed out for good", _R),
    160: ("Channel retired", _I),
    161: ("Channel could not be retired", _I),
    162: ("Power smoothing works again", _I),
    163: ("Power smoothing switched off", _I),
    164: ("Power smoothing near the end of its life", _I),
    165: ("Power smoothing at the end of its life", _L),
    167: ("PCIe timed out for good", _R),
    168: ("GPU memory capacity reduced", _R),
    169: ("Internal micro-controller halt", _R),
    171: ("Uncorrectable error in DRAM, detail of Xid 48", _R),
    172: ("Uncorrectable error in SRAM, detail of Xid 48", _R),
}
_VIDEO_ENGINES = {83, 84, 88, 89, 96, 97, 98, *range(99, 106), 142}
_COPY_ENGINES = {70, 71, 72, 75, 76, 77, 85, *range(126, 136)}
# A reset asked for at the next chance only: the running program is not harmed (row remapping, retirement).
_HARMLESS_NOW = {156}
# A person has to look, and what runs there is in doubt.
_FATAL_INSPECT = {54}
_UNKNOWN = "a code that has no meaning here"


def meaning(code: int, message: str = "") -> Meaning:
    """What an Xid means and asks for. message: its text, which for NVLink says itself whether it is fatal."""
    if code in NVLINK5:
        return _nvlink5(code, message)
    if code in _VIDEO_ENGINES:
        return Meaning("Video engine error", ACTION_APPLICATION, False)
    if code in _COPY_ENGINES:
        return Meaning("Copy engine exception", ACTION_APPLICATION, False)
    words, action = _TABLE.get(code, (_UNKNOWN, ACTION_INSPECT))
    fatal = action in (ACTION_RESET, ACTION_REBOOT) and code not in _HARMLESS_NOW
    return Meaning(words, action, fatal or code in _FATAL_INSPECT)


def _nvlink5(code: int, message: str) -> Meaning:
    words, action = _TABLE[code]
    if " Nonfatal " in message or " Non-fatal " in message:
        return Meaning(words + ", not fatal", ACTION_IGNORE, False)
    if " Fatal " in message:
        return Meaning(words + ", fatal", action, True)
    return Meaning(words, ACTION_INSPECT, False)
