"""Which version of the REST interface is spoken: the newest that both sides know."""

import re
from typing import Any

from msgspec import Struct

from hedgerow_operator.reconcile.ports import Unreachable

# The last one whose fields are named as sbatch's options are; from the next on they are those of job_desc_msg.
_LAST_OLD = 38
_OLDEST = 36
_NEWEST = 44
_PATH = re.compile(r"^/slurm/v0\.0\.(\d+)/jobs/?$")
_ACCOUNTING = re.compile(r"^/slurmdb/v0\.0\.(\d+)/job/")
_NODE = re.compile(r"^/slurm/v0\.0\.(\d+)/node/")


class Dialect(Struct, frozen=True, kw_only=True):
    """number: N of v0.0.N. accounting: whether ended jobs can be asked for under the same number.

    updates_nodes: whether a node's state can be set.
    """

    number: int
    accounting: bool = False
    updates_nodes: bool = False

    @property
    def old(self) -> bool:
        """Fields are named as sbatch's options are (Slurm 22.05 and before)."""
        return self.number <= _LAST_OLD

    def path(self, rest: str) -> str:
        """The whole path of one of slurmctld's resources."""
        return f"/slurm/v0.0.{self.number}/{rest}"

    def accounting_path(self, rest: str) -> str:
        """The whole path of one of slurmdbd's."""
        return f"/slurmdb/v0.0.{self.number}/{rest}"


def choose(document: dict[str, Any], url: str) -> Dialect:
    """The newest version in slurmrestd's OpenAPI document that is known here. Raises Unreachable with both sides'."""
    paths = document.get("paths")
    paths = paths if isinstance(paths, dict) else {}
    offered = {int(match[1]) for path in paths if (match := _PATH.match(path))}
    known = [number for number in offered if _OLDEST <= number <= _NEWEST]
    if not known:
        there = ", ".join(f"v0.0.{number}" for number in sorted(offered)) or "none"
        raise Unreachable(
            f"{url} offers the REST versions {there}; start slurmrestd with one of v0.0.{_OLDEST} to v0.0.{_NEWEST}"
        )
    number = max(known)
    return Dialect(
        number=number,
        accounting=any(int(match[1]) == number for path in paths if (match := _ACCOUNTING.match(path))),
        updates_nodes=any(
            int(match[1]) == number and isinstance(methods, dict) and "post" in methods
            for path, methods in paths.items()
            if (match := _NODE.match(path))
        ),
    )
