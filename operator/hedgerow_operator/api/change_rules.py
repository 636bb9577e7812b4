"""What may not change after a job was created: everything that its running ranks were started with."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from hedgerow_operator.api.rule import ChangeRule

_MESSAGE = (
    "{field} cannot change after creation; delete the job and create it again with the new value (checkpoints stay; "
    "to only pause it, set suspend: true)"
)


def _fixed(field: str, read: Callable[[object], object]) -> ChangeRule:
    return ChangeRule(
        field=field, cel=f"self.{field} == oldSelf.{field}", message=_MESSAGE.format(field=field), read=read
    )


def _fixed_optional(field: str) -> ChangeRule:
    return ChangeRule(
        field=field,
        cel=f"has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})",
        message=_MESSAGE.format(field=field),
        read=attrgetter(field),
    )


def _fixed_of_slurm(**fields: str) -> ChangeRule:
    """The rest of spec.slurm, such as timeLimit, counts from the next batch job on."""
    same = " && ".join(
        f"has(self.slurm.{field}) == has(oldSelf.slurm.{field})"
        f" && (!has(self.slurm.{field}) || self.slurm.{field} == oldSelf.slurm.{field})"
        for field in fields
    )
    return ChangeRule(
        field="slurm",
        cel=f"has(self.slurm) == has(oldSelf.slurm) && (!has(self.slurm) || {same})",
        message=_MESSAGE.format(field=", ".join(f"slurm.{field}" for field in fields)),
        read=lambda spec: spec.slurm and tuple(getattr(spec.slurm, name) for name in fields.values()),
    )


CHANGE_RULES = (
    _fixed("workers", attrgetter("workers")),
    _fixed("ranksPerWorker", attrgetter("ranks_per_worker")),
    _fixed_optional("processes"),
    _fixed("masterPort", attrgetter("master_port")),
    _fixed_optional("kubernetes"),
    _fixed_of_slurm(clusterRef="cluster_ref", gres="gres", launch="launch", script="script"),
    _fixed_optional("local"),
    _fixed("heartbeat", attrgetter("heartbeat")),
    _fixed_optional("checkpoint"),
    _fixed("recovery.graceSeconds", attrgetter("recovery.grace_seconds")),
    _fixed("recovery.fenceSeconds", attrgetter("recovery.fence_seconds")),
)
