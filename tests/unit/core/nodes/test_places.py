"""A rank is joined to its GPU by what its process was started for, by its number where that is the only one, or by
its pod."""

from __future__ import annotations

import dataclasses

import pytest

from hedgerow import wire
from hedgerow.wire_agent import AgentReport, GpuContainer, GpuProcess, MigInstance
from hedgerow_operator.core.nodes.on_gpus import RanksOnGPUs
from hedgerow_operator.core.nodes.places import GPUPlace, places_in
from tests.unit.core.builders import UID, make_rank, make_report
from tests.unit.core.nodes.builders import gpu, report


def using(*processes: list[GpuProcess]) -> AgentReport:
    """A node whose GPUs are used by these, GPU by GPU."""
    gpus = [gpu(index, processes=entries) for index, entries in enumerate(processes)]
    return dataclasses.replace(report(), gpus=gpus)


def launcher(*pids: int) -> wire.Report:
    """A launcher whose ranks have these process ids."""
    return make_report(*(make_rank(rank, pid=pid) for rank, pid in enumerate(pids)))


def given(*pods: list[str]) -> AgentReport:
    """A node whose GPUs are given to these pods of the namespace ml, GPU by GPU, as an exporter knows it."""
    gpus = [gpu(index, containers=[GpuContainer("ml", pod, "main") for pod in names])
            for index, names in enumerate(pods)]  # fmt: skip
    return dataclasses.replace(report(), gpus=gpus)


def worker(index: int, ranks: int, devices: str | None = None) -> wire.Report:
    """The launcher of a worker with so many ranks, each of which sees these devices."""
    made = [make_rank(index * ranks + local) for local in range(ranks)]
    told = [dataclasses.replace(rank, local_rank=local, devices=devices) for local, rank in enumerate(made)]
    return make_report(*told, worker=index, workers=2)


MINE = ["demo-1-0-abcde"]


def known(pid: int, rank: int, job: str = UID) -> GpuProcess:
    return GpuProcess(pid, job=job, rank=rank)


# name: (processes by GPU, launchers of the node, GPU by rank)
JOINS: dict[str, tuple[AgentReport, list[wire.Report], dict[int, int]]] = {
    "by the job and rank in its environment": (using([known(900, 5)], [known(901, 4)]), [], {5: 0, 4: 1}),
    "those of another job are none of ours": (using([known(900, 5, job="other")]), [launcher(900)], {}),
    "by its number in the node": (using([GpuProcess(70)], [GpuProcess(71)]), [launcher(71, 70)], {0: 1, 1: 0}),
    "by its number in its own namespace": (using([GpuProcess(9000, container_pid=7)]), [launcher(7)], {0: 0}),
    "not by a number of the node where it has another of its own": (
        using([GpuProcess(7, container_pid=1)]), [launcher(7)], {}),
    "not where two containers have a process of that number": (
        using([GpuProcess(9000, container_pid=7)], [GpuProcess(9001, container_pid=7)]), [launcher(7)], {}),
    "not where two ranks have that number": (
        using([GpuProcess(9000, container_pid=7)]), [launcher(7), launcher(7)], {}),
    "one process on two GPUs is on the first": (using([known(900, 0)], [known(900, 0)]), [], {0: 0}),
    "by the pod that the GPUs were given to, each rank to the one of its local number": (
        given(["demo-1-1-x7k2p"], ["demo-1-0-abcde"], ["demo-1-1-x7k2p"], ["demo-1-0-abcde"]),
        [worker(0, 2), worker(1, 2)], {0: 1, 1: 3, 2: 0, 3: 2}),
    "all ranks of a pod are on its only GPU": (given(["demo-1-0-abcde"]), [worker(0, 2)], {0: 0, 1: 0}),
    "by the pod that an instance of the GPU was given to": (
        dataclasses.replace(report(), gpus=[gpu(0), gpu(1, instances=[
            MigInstance(0, 3, containers=[GpuContainer("ml", "demo-1-0-abcde")])])]), [worker(0, 1)], {0: 1}),
    "to the one GPU of its pod that it sees": (given([], MINE, MINE), [worker(0, 1, "1")], {0: 2}),
    "in the order in which it sees them": (given(MINE, MINE, MINE), [worker(0, 2, "2,0")], {0: 2, 1: 0}),
    "by the UUID that it sees, whatever pods are told of": (given([], []), [worker(0, 1, "GPU-1")], {0: 1}),
    "not where it sees none": (given(MINE), [worker(0, 1, "")], {}),
    "not where it sees what its pod was not given": (given(MINE), [worker(0, 1, "1")], {}),
    "not where a UUID could be several": (given(MINE, MINE), [worker(0, 1, "GPU-")], {}),
    "not where a pod has neither one GPU nor one for each rank": (
        given(["demo-1-0-abcde"], ["demo-1-0-abcde"], ["demo-1-0-abcde"]), [worker(0, 2)], {}),
    "not by a pod of another job, worker or placement": (
        given(["other-1-0-abcde"], ["demo-1-1-abcde"], ["demo-2-0-abcde"], ["demo-1-0-sidecar"], [""]),
        [worker(0, 1)], {}),
    "not where two pods of one worker are there": (
        given(["demo-1-0-abcde"], ["demo-1-0-fghij"]), [worker(0, 2)], {}),
    "a GPU that tells of no process": (dataclasses.replace(report(), gpus=[gpu(0)]), [launcher(7)], {}),
}  # fmt: skip


@pytest.mark.parametrize(("agent", "launchers", "want"), JOINS.values(), ids=JOINS)
def test_a_rank_is_joined(agent: AgentReport, launchers: list[wire.Report], want: dict[int, int]) -> None:
    assert {rank: place.index for rank, place in places_in(agent, UID, launchers).items()} == want


def test_the_place_says_node_number_uuid_and_pci_address() -> None:
    (place,) = places_in(using([known(900, 5)]), UID, []).values()
    assert place == GPUPlace(node="node-1", index=0, uuid="GPU-0", pci="0000:00:00.0")
    assert str(place) == "GPU 0 of node node-1 (GPU-0, 0000:00:00.0)"


def test_where_a_rank_was_is_remembered_when_its_gpu_tells_nothing_any_more() -> None:
    places = RanksOnGPUs()
    places.read(UID, {"node-1": using([known(900, 5)])}, [])
    places.read(UID, {"node-1": dataclasses.replace(report(), gpus=[gpu(0)])}, [])
    assert places.places[5].index == 0


def test_a_rank_that_went_elsewhere_is_where_it_is_now() -> None:
    places = RanksOnGPUs()
    places.read(UID, {"node-1": using([known(900, 5)])}, [])
    places.read(UID, {"node-2": dataclasses.replace(using([], [known(17, 5)]), node="node-2")}, [])
    assert (places.places[5].node, places.places[5].index) == ("node-2", 1)
