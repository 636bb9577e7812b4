"""Which rank is on which GPU: by the job and rank that a GPU's process was started for, else by its process id."""

from collections.abc import Iterable

from msgspec import Struct

from hedgerow.wire import Report
from hedgerow.wire_agent import AgentReport, GpuProcess, GpuReport


class GPUPlace(Struct, frozen=True, kw_only=True):
    """A GPU of a node."""

    node: str
    index: int
    uuid: str = ""
    pci: str = ""

    def __str__(self) -> str:
        told = ", ".join(filter(None, (self.uuid, self.pci)))
        return f"GPU {self.index} of node {self.node}" + (f" ({told})" if told else "")


def place_of(node: str, gpu: GpuReport) -> GPUPlace:
    """The place that a report's entry is about."""
    return GPUPlace(node=node, index=gpu.index, uuid=gpu.uuid, pci=gpu.pci)


def places_in(agent: AgentReport, job: str, launchers: Iterable[Report]) -> dict[int, GPUPlace]:
    """The first GPU of each rank of ``job`` (its uid) by global number, as far as one report tells. launchers: the
    newest reports of those on this node."""
    found: dict[int, GPUPlace] = {}
    users = [(gpu, process) for gpu in agent.gpus for process in gpu.processes or ()]
    for gpu, process in users:
        if process.job == job and process.rank is not None:
            found.setdefault(process.rank, place_of(agent.node, gpu))
    if any(not process.job for _, process in users):
        for rank, gpu in _by_process(users, launchers):
            found.setdefault(rank, place_of(agent.node, gpu))
    return found


def _by_process(
    users: list[tuple[GpuReport, GpuProcess]], launchers: Iterable[Report]
) -> Iterable[tuple[int, GpuReport]]:
    """In pods of their own different processes may have the same number: one that is not the only one says nothing."""
    ranks = [rank for report in launchers for rank in report.ranks if rank.pid is not None]
    for rank in ranks:
        mine = [(gpu, process) for gpu, process in users if rank.pid in _numbers(process) and not process.job]
        alike = sum(other.pid == rank.pid for other in ranks)
        if mine and alike == 1 and len({process.pid for _, process in mine}) == 1:
            yield rank.rank, mine[0][0]


def _numbers(process: GpuProcess) -> tuple[int | None, ...]:
    return (process.container_pid,) if process.container_pid is not None else (process.pid,)
