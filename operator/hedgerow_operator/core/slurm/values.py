"""Single values in Slurm's JSON, whose type changed from version to version. What cannot be read is as if absent."""

from collections.abc import Mapping
from typing import Any

from hedgerow_operator.core.slurm.hostlist import expand

# No number of Slurm has more than 64 bits.
_LARGEST = 2**64


def number(value: Any) -> float | None:
    """A number; None when null, not set, infinite, or something else. Later versions write {set, infinite, number}."""
    if isinstance(value, Mapping):
        told = value.get("set", True) is True and value.get("infinite", False) is not True
        return number(value.get("number")) if told else None
    if isinstance(value, str):
        return number(int(value)) if value.isdecimal() and len(value) <= 20 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return float(value)


def whole(value: Any) -> int:
    """A count or an id; 0 when it cannot be read."""
    return int(number(value) or 0)


def time(value: Any) -> float | None:
    """Epoch seconds; 0 is how Slurm writes that there is none yet."""
    return number(value) or None


def text(value: Any) -> str:
    """A text; empty when it is null or something else."""
    return value if isinstance(value, str) else ""


def complaints(document: Any) -> str:
    """What an answer says went wrong; an answer with complaints says nothing else, whatever lists are in it.

    (squeue 22.05 prints an empty list of jobs and ends well when its controller is away.)
    """
    if not isinstance(document, Mapping):
        return "the answer is no JSON object"
    entries = [entry for entry in items(document.get("errors")) if isinstance(entry, Mapping)]
    told = [text(entry.get("error")) or text(entry.get("description")) for entry in entries]
    return "; ".join(part or "an error without a name" for part in told)


def items(value: Any) -> list[Any]:
    """What is in a list; nothing when it is none."""
    return value if isinstance(value, list) else []


def hosts(value: Any) -> tuple[str, ...]:
    """Names of hosts from a list or Slurm's text of one; a text that is no proper list stands for itself."""
    if isinstance(value, list):
        return tuple(item for item in value if isinstance(item, str))
    try:
        return expand(text(value))
    except ValueError:
        return (text(value),)


def exit_status(value: Any) -> int | None:
    """As wait(2) gives it. Older versions write just that, later ones {return_code, signal: {id}}."""
    if isinstance(value, Mapping) and "return_code" in value:
        signal = value.get("signal")
        ended_by = signal.get("id", signal.get("signal_id")) if isinstance(signal, Mapping) else None
        return whole(value["return_code"]) << 8 | whole(ended_by)
    status = number(value)
    return None if status is None else int(status)
