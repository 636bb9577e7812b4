"""A small simulated training job: groups in three dimensions, operations in order, and the dumps that it leaves."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hedgerow_operator.core.attribution.recorder.dump import RankDump
from hedgerow_operator.core.attribution.recorder.read import read_dump

TRANSFER = "transfer from "
KEPT = 6  # completed operations that a dump still holds


@dataclass(frozen=True)
class Operation:
    """A collective of a group, or a transfer between two ranks; ``number``: which one of its kind."""

    name: str
    group: str
    ranks: tuple[int, ...] = field(compare=False)
    number: int


@dataclass
class Job:
    """``tensor`` x ``data`` x ``pipeline`` ranks, numbered in this order.

    stops: ranks that issue no more after so many operations. ahead: how many may be under way. broken: groups whose
    operations never end. names: other numbers.
    """

    tensor: int
    data: int
    pipeline: int
    stops: Mapping[int, int] = field(default_factory=dict)
    steps: int = 3
    ahead: int = 8
    broken: frozenset[str] = frozenset()
    names: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world = self.tensor * self.data * self.pipeline
        self.groups: dict[str, tuple[str, tuple[int, ...]]] = {"0": ("default_pg", tuple(range(self.world)))}
        stage = self.tensor * self.data
        for base in range(0, self.world, self.tensor):
            self._group("TENSOR", range(base, base + self.tensor))
        for start, offset in itertools.product(range(0, self.world, stage), range(self.tensor)):
            self._group("DATA", range(start + offset, start + stage, self.tensor))
        for first in range(stage):
            self._group("PIPELINE", range(first, self.world, stage))
        self.memberships: list[list[str]] = [[] for _ in range(self.world)]
        for key, (_, ranks) in self.groups.items():
            for rank in ranks:
                self.memberships[rank].append(key)
        self.programs = [self._program(rank) for rank in range(self.world)]
        self.listed = {key: str([self.named(rank) for rank in ranks]) for key, (_, ranks) in self.groups.items()}
        self.done = [0] * self.world
        self._run()

    def _group(self, description: str, ranks: Iterable[int]) -> None:
        members = tuple(ranks)
        if len(members) > 1:
            self.groups[str(len(self.groups))] = (description, members)

    def _of(self, rank: int, description: str) -> list[tuple[str, tuple[int, ...]]]:
        return [(key, self.groups[key][1]) for key in self.memberships[rank] if self.groups[key][0] == description]

    def _program(self, rank: int) -> list[Operation]:
        used: Counter[tuple[str, str]] = Counter()
        program: list[Operation] = []

        def add(name: str, group: str, ranks: tuple[int, ...]) -> None:
            used[name, group] += 1
            program.append(Operation(name, group, ranks, used[name, group]))

        for _ in range(self.steps):
            for key, ranks in self._of(rank, "PIPELINE"):
                at = ranks.index(rank)
                pairs = [(ranks[at - 1], rank)] if at else []
                for pair in pairs + ([(rank, ranks[at + 1])] if at + 1 < len(ranks) else []):
                    add(f"{TRANSFER}{pair[0]} to {pair[1]}", key, pair)
            for key, ranks in self._of(rank, "TENSOR"):
                add("all_gather_into_tensor", key, ranks)
                add("reduce_scatter_tensor", key, ranks)
            for key, ranks in self._of(rank, "DATA"):
                add("all_reduce", key, ranks)
            add("all_reduce", "0", tuple(range(self.world)))
        return program

    def _issued(self, rank: int) -> int:
        length = len(self.programs[rank])
        return min(length, self.stops.get(rank, length), self.done[rank] + self.ahead)

    def _at(self, rank: int) -> Operation | None:
        return self.programs[rank][self.done[rank]] if self.done[rank] < self._issued(rank) else None

    def _run(self) -> None:
        """Until nothing moves: an operation ends when it is the first in the queue of all its ranks."""
        moved = True
        while moved:
            moved = False
            for rank in range(self.world):
                operation = self._at(rank)
                if operation is None or operation.group in self.broken:
                    continue
                if all(self._at(peer) == operation for peer in operation.ranks):
                    for peer in operation.ranks:
                        self.done[peer] += 1
                    moved = True

    def values(self, rank: int) -> dict[str, Any]:
        """The dump of a rank as plain values, in the naming of version 2."""
        entries = []
        sequences: Counter[str] = Counter()
        transfers: Counter[str] = Counter()
        for place, operation in enumerate(self.programs[rank][: self._issued(rank)]):
            counter = transfers if operation.name.startswith(TRANSFER) else sequences
            counter[operation.group] += 1
            if place < self.done[rank] - KEPT:
                continue
            entries.append({
                "record_id": place,
                "pg_id": int(operation.group),
                "process_group": (operation.group, self.groups[operation.group][0]),
                "collective_seq_id": sequences[operation.group],
                "p2p_seq_id": transfers[operation.group],
                "profiling_name": self._name(operation, rank),
                "input_sizes": [[8, 4]],
                "input_dtypes": ["BFloat16"],
                "output_sizes": [[8, 4]],
                "output_dtypes": ["BFloat16"],
                "state": "completed" if place < self.done[rank] else "scheduled",
                "is_p2p": operation.name.startswith(TRANSFER),
            })  # fmt: skip
        return {"version": "2.4", "pg_config": self._configuration(rank), "entries": entries}

    def _configuration(self, rank: int) -> dict[str, Any]:
        return {
            key: {"name": key, "desc": self.groups[key][0], "ranks": self.listed[key]} for key in self.memberships[rank]
        }

    def _name(self, operation: Operation, rank: int) -> str:
        if not operation.name.startswith(TRANSFER):
            return f"nccl:{operation.name}"
        ranks = self.groups[operation.group][1]
        source, target = (ranks.index(peer) for peer in operation.ranks)
        return f"nccl:send {source}->{target}" if rank == operation.ranks[0] else f"nccl:recv {target}<-{source}"

    def named(self, rank: int) -> int:
        """The number that the rank goes by, if ``names`` gives it another."""
        return self.names.get(rank, rank)

    def dumps(self, without: Iterable[int] = ()) -> list[RankDump]:
        """The dumps of all ranks but some."""
        missing = frozenset(without)
        return [read_dump(self.values(rank), self.named(rank)) for rank in range(self.world) if rank not in missing]
