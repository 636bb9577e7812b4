"""All ranks of a job and their process groups, as their dumps together tell it."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from hedgerow_operator.core.attribution.recorder.dump import Group, RankDump
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
