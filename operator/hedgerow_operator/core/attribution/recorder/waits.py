"""Who waits for whom: a rank that waits in a collective or a transfer waits for the ranks that have not joined it."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from hedgerow_operator.core.attribution.recorder.dump import NOT_JOINED, Transfer
from hedgerow_operator.core.attribution.recorder.gang import Gang


class Wait(Struct, frozen=True, kw_only=True):
    """What a rank waits in, and for whom. seq is None for a transfer that has none. head: it waits for this first."""

    rank: int
    group: str
    seq: int | None
    absent: tuple[int, ...]
    transfer: Transfer | None = None
    order: int | None = None
    head: bool = False


def find_waits(gang: Gang, heads: dict[int, int | None]) -> Iterator[Wait]:
    """Every wait for ranks that did not join. ``heads``: see :func:`heads_of`.

    A rank without a dump is absent only from what others wait in first: what they enqueued behind that may stand still
    for its sake alone, and says nothing about who is missing there.
    """
    yield from _collective_waits(gang, heads)
    yield from _transfer_waits(gang, heads)


def heads_of(gang: Gang) -> dict[int, int | None]:
    """By rank, the order of the first operation that is not complete; None if the dump does not tell the order."""
    heads: dict[int, int | None] = {}
    for dump in gang.dumps.values():
        orders = [work.order for work in dump.first.values()] + [transfer.order for transfer in dump.transfers]
        told = [order for order in orders if order is not None]
        heads[dump.rank] = min(told) if len(told) == len(orders) and told else None
    return heads


def _collective_waits(gang: Gang, heads: dict[int, int | None]) -> Iterator[Wait]:
    for key, members in gang.members.items():
        absences = _Absences(gang, key, members)
        for rank in members:
            work = gang.dumps[rank].first.get(key) if rank in gang.dumps else None
            if work is None:
                continue
            head = heads[rank] is None or work.order == heads[rank]
            absent = absences.at(work.seq, head)
            if absent:
                yield Wait(rank=rank, group=key, seq=work.seq, absent=absent, order=work.order, head=head)


class _Absences:
    """Members that have not joined a collective; ranks that wait at the same one share the answer."""

    def __init__(self, gang: Gang, key: str, members: tuple[int, ...]) -> None:
        self._reached = {rank: gang.dumps[rank].reached.get(key, NOT_JOINED) for rank in members if rank in gang.dumps}
        # What one member has completed, all have joined, those without a dump too.
        self._completed = max((gang.dumps[rank].completed(key) for rank in self._reached), default=NOT_JOINED)
        self._silent = tuple(rank for rank in members if rank in gang.silent)
        self._known: dict[tuple[int, bool], tuple[int, ...]] = {}

    def at(self, seq: int, head: bool) -> tuple[int, ...]:
        answer = self._known.get((seq, head))
        if answer is None:
            behind = tuple(rank for rank, reached in self._reached.items() if reached < seq)
            answer = self._known[seq, head] = behind + (self._silent if head and seq > self._completed else ())
        return answer


def _transfer_waits(gang: Gang, heads: dict[int, int | None]) -> Iterator[Wait]:
    """A transfer waits for its peer when the peer has fewer of the other direction's counterparts under way.

    Sequence numbers of transfers count all peers of a rank in the group, so they cannot be compared between two ranks.
    """
    under_way = Counter(
        (transfer.group, *_ends(dump.rank, transfer), transfer.sends)
        for dump in gang.dumps.values()
        for transfer in dump.transfers
    )
    for dump in gang.dumps.values():
        for transfer in dump.transfers:
            head = heads[dump.rank] is None or transfer.order == heads[dump.rank]
            ends = (transfer.group, *_ends(dump.rank, transfer))
            behind = under_way[*ends, transfer.sends] > under_way[*ends, not transfer.sends]
            if behind and (head or transfer.peer in gang.dumps):
                yield Wait(
                    rank=dump.rank,
                    group=transfer.group,
                    seq=transfer.seq,
                    absent=(transfer.peer,),
                    transfer=transfer,
                    order=transfer.order,
                    head=head,
                )


def _ends(rank: int, transfer: Transfer) -> tuple[int, int]:
    return (rank, transfer.peer) if transfer.sends else (transfer.peer, rank)
