"""All ranks of a job and their process groups, as their dumps together tell it."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from hedgerow_operator.core.attribution.recorder.dump import Group, RankDump, Work
from hedgerow_operator.core.attribution.recorder.groups import is_default


class Gang:
    """The dumps by rank, the world, and the members of each group; ranks of the world without a dump are silent."""

    def __init__(self, dumps: Iterable[RankDump]) -> None:
        self.dumps: Mapping[int, RankDump] = {dump.rank: dump for dump in dumps}
        self.groups: Mapping[str, Group] = {
            key: group for dump in self.dumps.values() for key, group in dump.groups.items()
        }

    @cached_property
    def world(self) -> tuple[int, ...]:
        """Every rank that a dump is from or that a group has."""
        named = {rank for group in self.groups.values() for rank in group.members}
        return tuple(sorted(named.union(self.dumps)))

    @cached_property
    def silent(self) -> frozenset[int]:
        """Ranks whose dump is missing."""
        return frozenset(self.world).difference(self.dumps)

    @cached_property
    def members(self) -> Mapping[str, tuple[int, ...]]:
        """Global ranks of each group; where no dump says, those that have used it."""
        used: dict[str, list[int]] = {}
        for dump in self.dumps.values():
            for key in dump.reached:
                used.setdefault(key, []).append(dump.rank)
        return {
            key: group.members or (self.world if is_default(group) else tuple(used.get(key, ())))
            for key, group in self.groups.items()
        }

    @cached_property
    def _heads(self) -> Mapping[int, int | None]:
        return {dump.rank: _head(dump) for dump in self.dumps.values()}

    def is_head(self, rank: int, order: int | None) -> bool:
        """Whether an operation of this order is the first incomplete one of the rank; so is any if no order is told."""
        head = self._heads[rank]
        return head is None or order == head

    def first(self, rank: int, key: str) -> Work | None:
        """The first incomplete collective of a rank in a group."""
        return self.dumps[rank].first.get(key) if rank in self.dumps else None

    def is_left_behind(self, rank: int) -> bool:
        """Whether a peer has completed a collective that the rank has joined and not completed."""
        for key, work in self.dumps[rank].first.items():
            peers = (self.dumps[peer] for peer in self.members[key] if peer in self.dumps and peer != rank)
            if any(peer.completed(key) >= work.seq for peer in peers):
                return True
        return False


def _head(dump: RankDump) -> int | None:
    orders = [work.order for work in dump.first.values()] + [transfer.order for transfer in dump.transfers]
    told = [order for order in orders if order is not None]
    return min(told) if told and len(told) == len(orders) else None
