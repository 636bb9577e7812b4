"""What differs between the two lines of pyslurm that are known here, 22.5 and 25.11, and nothing else.

From pyslurm's sources and changelog: 25.11 has no pyslurm.version() and calls a job's gres_per_node gres.
"""

from typing import Any

KNOWN = ("22.5", "25.11")


class WrongVersion(Exception):
    """One sentence: which version is there, and which is needed."""


def line_of(version: str) -> str:
    """Year and month of a version, as pyslurm numbers its own: 22.05.8 and 22.5.1 are both of 22.5."""
    parts = version.split(".")
    return ".".join(str(int(part)) for part in parts[:2]) if all(part.isdigit() for part in parts[:2]) else version


def line(module: Any, slurm: str) -> str:
    """The line of this module. slurm: the version of Slurm on this machine, empty where it is not known.

    Raises WrongVersion.
    """
    told = getattr(module, "__version__", "") or (module.version() if hasattr(module, "version") else "")
    found = line_of(str(told))
    if found not in KNOWN:
        raise WrongVersion(f"pyslurm {told or 'of an unknown version'} is not known here; install {' or '.join(KNOWN)}")
    if slurm and line_of(slurm) != found:
        raise WrongVersion(
            f"pyslurm {told} does not fit Slurm {slurm}; install pyslurm {line_of(slurm)}, or use the CLI driver"
        )
    return found


def gres_name(found: str) -> str:
    """What the attribute for ``--gres`` of a submission is called."""
    return "gres_per_node" if found == "22.5" else "gres"
