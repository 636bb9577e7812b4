"""States as Slurm writes them, in every form, read as base state and flags; what they mean is said elsewhere.

Forms: ``RUNNING``, ``R``, ``CANCELLED by 123``, ``idle+drain``, ``IDLE*+DRAIN``, ``down*``, ``drng``, lists of words.
"""

import re
from collections.abc import Iterable

# squeue(1), "JOB STATE CODES".
_JOB_CODES = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
    # Not Slurm's own words, but of tools that pass its states on.
    "COMPLETE": "COMPLETED",
}
# Flags that older versions show in place of the state, and the state beneath where it can be one only
# (slurm.h, enum job_states and JOB_* flags).
_BENEATH_JOB_FLAG = {
    "CONFIGURING": "RUNNING",
    "POWER_UP_NODE": "RUNNING",
    "REQUEUED": "PENDING",
    "REQUEUE_FED": "PENDING",
    "REQUEUE_HOLD": "PENDING",
    "RESIZING": "RUNNING",
    "RESV_DEL_HOLD": "PENDING",
    "SIGNALING": "RUNNING",
    "SPECIAL_EXIT": "PENDING",
    "STOPPED": "RUNNING",
}
_JOB_FLAGS = frozenset({*_BENEATH_JOB_FLAG, "COMPLETING", "LAUNCH_FAILED", "REVOKED", "STAGE_OUT", "UPDATE_DB"})

# sinfo(1), "NODE STATE CODES": the suffixes, and the short words.
_NODE_SUFFIXES = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}
_NODE_WORDS = {
    "ALLOC": ("ALLOCATED",),
    "COMP": ("COMPLETING",),
    "DRAINED": ("IDLE", "DRAIN"),
    "DRAINING": ("ALLOCATED", "DRAIN"),
    "DRNG": ("ALLOCATED", "DRAIN"),
    "FAILG": ("ALLOCATED", "FAIL"),
    "FAILING": ("ALLOCATED", "FAIL"),
    "FUTR": ("FUTURE",),
    "INVAL": ("INVALID",),
    "MAINT": ("MAINTENANCE",),
    "MIX": ("MIXED",),
    "NO_RESPOND": ("NOT_RESPONDING",),
    "NPC": ("PERFCTRS",),
    "PLND": ("PLANNED",),
    "RESV": ("RESERVED",),
    "UNK": ("UNKNOWN",),
}
_NODE_STATES = frozenset({"ALLOCATED", "DOWN", "ERROR", "FUTURE", "IDLE", "INVALID", "MIXED", "UNKNOWN"})
_SUFFIXED = re.compile(r"(.*?)([*~#!%$@^-]*)")

_NOTHING = frozenset({"none", "n/a", "(null)"})

# Of these a time of end, and how it ended, is only foretold (slurm.h, IS_JOB_FINISHED).
_NOT_ENDED = frozenset({"PENDING", "RUNNING", "SUSPENDED"})

State = tuple[str, frozenset[str]]


def has_ended(state: str) -> bool:
    """Whether a job in this base state has, though it may not be cleaned up yet."""
    return state not in _NOT_ENDED


def job_state(shown: str | Iterable[str]) -> State:
    """Base state and flags of a job. A flag that stands alone and can hide several states is its own base state."""
    words = [_JOB_CODES.get(word, word) for word in _words(shown)]
    flags = frozenset(word for word in words if word in _JOB_FLAGS)
    base = [word for word in words if word not in _JOB_FLAGS]
    if base:
        return base[0], flags | frozenset(base[1:])
    known = [_BENEATH_JOB_FLAG[flag] for flag in words if flag in _BENEATH_JOB_FLAG]
    return (known or words or ["UNKNOWN"])[0], flags


def node_state(shown: str | Iterable[str], flags: Iterable[str] = ()) -> State:
    """Base state and flags of a node. A word that is no base state and stands alone is its own, ``drain`` is on an
    idle node.
    """
    words: list[str] = []
    for word in [*_words(shown), *_words(flags)]:
        match = _SUFFIXED.fullmatch(word)
        stem, suffixes = (match[1], match[2]) if match else (word, "")
        words += _NODE_WORDS.get(stem, (stem,) if stem else ())
        words += [_NODE_SUFFIXES[suffix] for suffix in suffixes]
    base = next((word for word in words if word in _NODE_STATES), None)
    if base is None:
        base = "IDLE" if words[:1] == ["DRAIN"] else (words or ["UNKNOWN"])[0]
        return base, frozenset(words)
    return base, frozenset(words) - {base}


def nothing_as_empty(shown: str) -> str:
    """A reason, comment or the like; empty where Slurm writes a word for that there is none."""
    return "" if shown.lower() in _NOTHING else shown


def _words(shown: str | Iterable[str]) -> list[str]:
    """Upper-case words; of a text the first one (``CANCELLED by 123``), cut at each plus."""
    texts = [shown] if isinstance(shown, str) else [text for text in shown if isinstance(text, str)]
    first = [text.split()[0] for text in texts if text.split()]
    return [word for text in first for word in text.upper().split("+") if word]
