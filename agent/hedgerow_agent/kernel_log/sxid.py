"""What SXids (errors of NVSwitches) mean: the message says itself whether it is fatal.

Source: NVIDIA Fabric Manager user guide, "SXid errors": a fatal one ends the programs that use the switch and asks for
a reset of the GPUs and switches; the meaning of the commonest is added here.
"""

from hedgerow.wire_agent import ACTION_APPLICATION, ACTION_IGNORE, ACTION_RESET
from hedgerow.xid_codes import Meaning

_WORDS = {
    11004: "ingress invalid access control list",
    12028: "egress non-posted privilege error",
    19084: "access to an address that no GPU has",
    20001: "link replay error",
    20012: "link training failed",
    20034: "link went down",
    22012: "link controller interrupt",
    22013: "link controller request interrupt",
    24007: "remote GPU or its driver gone",
}
# The program's own fault, by the same guide: it ends, and nothing is to be reset.
_OF_PROGRAMS = {11012, 11021, 11022, 11023, 12021, 12023, 15008, 15011, 19049, 19055, 19057, 19059, 19062, 19065, 19068}


def meaning(code: int, message: str) -> Meaning:
    """What an SXid means and asks for; one without a severity (its data follow the first line) says nothing more."""
    words = "NVSwitch: " + _WORDS.get(code, f"SXid {code}")
    if message.startswith("Fatal"):
        return Meaning(words, ACTION_RESET, True)
    if code in _OF_PROGRAMS:
        return Meaning(words, ACTION_APPLICATION, False)
    return Meaning(words, ACTION_IGNORE, False)
