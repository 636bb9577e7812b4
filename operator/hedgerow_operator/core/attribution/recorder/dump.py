"""What one rank's flight-recorder dump says, in one shape whatever version wrote it."""

from collections.abc import Mapping

from msgspec import Struct

NOT_JOINED = -1
SCHEDULED = "scheduled"
STARTED = "started"
COMPLETED = "completed"


class Group(Struct, frozen=True, kw_only=True):
    """A process group. members: global ranks in the order of their local ones; empty: the dump does not say."""

    key: str
    name: str
    description: str
    members: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """What people call it."""
        return self.description or self.name


class Work(Struct, frozen=True, kw_only=True):
    """One collective that is not complete on the rank.

    order: its place among the operations that the rank recorded; None where the dump does not
    tell it, as are sizes and dtypes.
    """

    group: str
    seq: int
    op: str
    order: int | None = None
    state: str = ""
    input_sizes: tuple[tuple[int, ...], ...] | None = None
    output_sizes: tuple[tuple[int, ...], ...] | None = None
    input_dtypes: tuple[str, ...] | None = None
    output_dtypes: tuple[str, ...] | None = None


class Transfer(Struct, frozen=True, kw_only=True):
    """One point-to-point operation that is not complete on the rank; peer is a global rank."""

    group: str
    sends: bool
    peer: int
    order: int | None = None
    seq: int | None = None


class RankDump(Struct, frozen=True, kw_only=True):
    """The dump of one rank.

    reached: the last collective that it joined, by group. first: its first incomplete collective, by group (NCCL runs
    those of one group in order). transfers: all incomplete ones. entries: how many the dump holds.
    """

    rank: int
    groups: Mapping[str, Group]
    reached: Mapping[str, int]
    first: Mapping[str, Work]
    transfers: tuple[Transfer, ...] = ()
    entries: int = 0

    def joined(self, group: str, seq: int) -> bool:
        """Whether the rank has joined this collective of the group."""
        return self.reached.get(group, NOT_JOINED) >= seq

    def completed(self, group: str) -> int:
        """The last collective of the group that is complete on the rank: NCCL runs those of one group in order."""
        first = self.first.get(group)
        return self.reached.get(group, NOT_JOINED) if first is None else first.seq - 1
