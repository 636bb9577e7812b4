"""What every driver of Slurm can do. Slow or silent: none ever blocks the loop; each call ends within a minute."""

from collections.abc import Sequence
from typing import Protocol

from hedgerow_operator.core.slurm.seen import SlurmJob, SlurmNode, Submission
from hedgerow_operator.reconcile.ports import Refused


class Unsupported(Refused):
    """This driver cannot do it; the message says which one can, or what to write instead."""


class Driver(Protocol):
    """Acts as one user of one cluster. Every method may raise reconcile.ports.Unreachable: nothing is known then, also
    not whether what was asked for has happened.
    """

    async def version(self) -> str:
        """Slurm's version, such as 22.05.8."""

    async def submit(self, submission: Submission) -> str:
        """The id of the new job. Raises ports.Refused with Slurm's own sentence when it never can be."""

    async def jobs(self) -> Sequence[SlurmJob]:
        """Every job of this user that the controller still remembers, in one call."""

    async def job(self, job_id: str) -> SlurmJob | None:
        """One job, from accounting where the controller has forgotten it; None: nobody knows it (any more)."""

    async def cancel(self, job_id: str) -> None:
        """Ask for its end (TERM, after KillWait KILL); ended or unknown is fine."""

    async def requeue(self, job_id: str, excluded: Sequence[str]) -> None:
        """Put it back under its id, from now on avoiding just these nodes. Raises Unsupported, ports.Refused."""

    async def change(self, job_id: str, excluded: Sequence[str] | None, comment: str) -> None:
        """Of a job that waits: the nodes that it avoids (None: as before); of any: its comment ("": likewise). Raises
        Unsupported, ports.Refused.
        """

    async def nodes(self) -> Sequence[SlurmNode]:
        """Every node, in one call."""

    async def drain(self, node: str, reason: str) -> None:
        """Let nothing new begin there. Raises Unsupported, ports.Refused."""

    async def resume(self, node: str) -> None:
        """Undo a drain. Raises Unsupported, ports.Refused."""

    async def close(self) -> None:
        """Let go of sessions and processes."""
