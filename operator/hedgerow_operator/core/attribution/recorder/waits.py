"""Who waits for whom: a rank that waits in a collective or a transfer waits for the ranks that do not take part yet."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from hedgerow_operator.core.attribution.recorder.dump import NOT_JOINED, SCHEDULED, STARTED, Transfer, Work
from hedgerow_operator.core.attribution.recorder.gang import Gang


class Lack(StrEnum):
    """What the others lack. JOINED: they never joined. STARTED: they enqueued it, and their GPUs, with nothing before
    it, did not begin it. REACHED: they enqueued it behind something that is not complete.
    """

    JOINED = "joined"
    STARTED = "started"
    REACHED = "reached"


class Wait(Struct, frozen=True, kw_only=True):
    """What a rank waits in, and for whom. seq is None for a transfer that has none. head: it waits for this first."""

    rank: int
    group: str
    seq: int | None
    absent: tuple[int, ...]
    lack: Lack = Lack.JOINED
    transfer: Transfer | None = None
    order: int | None = None
    head: bool = False


def find_waits(gang: Gang, anywhere: bool = False) -> Iterator[Wait]:
    """Every wait.

    A rank without a dump is missed only where others wait first: what they enqueued behind that stands still for its
    sake alone, and says nothing about who is missing there. ``anywhere``: it is missed there too.
    """
    for key, members in gang.members.items():
        look = _Look(gang, key, members)
        for rank in members:
            if (work := gang.first(rank, key)) is not None:
                yield from _in_collective(gang, look, rank, work, anywhere)
    yield from _in_transfers(gang, anywhere)


class _Look:
    """How far the members of a group are; ranks that wait at the same collective share the answer."""

    def __init__(self, gang: Gang, key: str, members: tuple[int, ...]) -> None:
        dumps = [gang.dumps[rank] for rank in members if rank in gang.dumps]
        self._reached = {dump.rank: dump.reached.get(key, NOT_JOINED) for dump in dumps}
        # What one member has completed, all have joined, those without a dump too.
        self._completed = max((dump.completed(key) for dump in dumps), default=NOT_JOINED)
        self._silent = tuple(rank for rank in members if rank in gang.silent)
        self._first = {dump.rank: (dump.first[key], gang.is_head(dump.rank, dump.first[key].order)) for dump in dumps
                       if key in dump.first}  # fmt: skip
        self._answers: dict[tuple[object, ...], tuple[int, ...]] = {}

    def not_joined(self, seq: int, with_silent: bool) -> tuple[int, ...]:
        answer = self._answers.get((seq, with_silent))
        if answer is None:
            answer = tuple(rank for rank, reached in self._reached.items() if reached < seq)
            answer += self._silent if with_silent and seq > self._completed else ()
            self._answers[seq, with_silent] = answer
        return answer

    def not_started(self, seq: int) -> tuple[int, ...]:
        answer = self._answers.get((STARTED, seq))
        if answer is None:
            answer = self._answers[STARTED, seq] = tuple(
                rank for rank, (work, head) in self._first.items()
                if work.seq == seq and work.state == SCHEDULED and head
            )  # fmt: skip
        return answer

    def not_reached(self, seq: int) -> tuple[int, ...]:
        answer = self._answers.get((SCHEDULED, seq))
        if answer is None:
            answer = self._answers[SCHEDULED, seq] = tuple(
                rank for rank, (work, head) in self._first.items()
                if self._reached[rank] >= seq and (work.seq < seq or (work.seq == seq and not head))
            )  # fmt: skip
        return answer


def _in_collective(gang: Gang, look: _Look, rank: int, work: Work, anywhere: bool) -> Iterator[Wait]:
    head = gang.is_head(rank, work.order)
    lacks = {Lack.JOINED: look.not_joined(work.seq, head or anywhere)}
    # Dumps tell of beginnings only when timing is on (TORCH_NCCL_ENABLE_TIMING).
    if work.state == STARTED:
        lacks[Lack.STARTED] = look.not_started(work.seq)
    if head:
        lacks[Lack.REACHED] = look.not_reached(work.seq)
    for lack, absent in lacks.items():
        if absent:
            yield Wait(rank=rank, group=work.group, seq=work.seq, absent=absent, lack=lack, order=work.order, head=head)


def _in_transfers(gang: Gang, anywhere: bool) -> Iterator[Wait]:
    """A transfer waits for its peer when the peer has fewer of the other direction's counterparts under way.

    Sequence numbers of transfers count all peers of a rank in the group, so they cannot be compared between two ranks.
    """
    under_way: Counter[tuple[object, ...]] = Counter()
    reached: set[tuple[object, ...]] = set()
    for dump in gang.dumps.values():
        for transfer in dump.transfers:
            side = (transfer.group, *_ends(dump.rank, transfer), transfer.sends)
            under_way[side] += 1
            if gang.is_head(dump.rank, transfer.order):
                reached.add(side)
    for dump in gang.dumps.values():
        for transfer in dump.transfers:
            ends = (transfer.group, *_ends(dump.rank, transfer))
            head = gang.is_head(dump.rank, transfer.order)
            if under_way[*ends, transfer.sends] > under_way[*ends, not transfer.sends]:
                if head or anywhere or transfer.peer in gang.dumps:
                    yield _transfer_wait(dump.rank, transfer, Lack.JOINED, head)
            elif head and (*ends, not transfer.sends) not in reached:
                yield _transfer_wait(dump.rank, transfer, Lack.REACHED, head)


def _transfer_wait(rank: int, transfer: Transfer, lack: Lack, head: bool) -> Wait:
    return Wait(rank=rank, group=transfer.group, seq=transfer.seq, absent=(transfer.peer,), lack=lack,
                transfer=transfer, order=transfer.order, head=head)  # fmt: skip


def _ends(rank: int, transfer: Transfer) -> tuple[int, int]:
    return (rank, transfer.peer) if transfer.sends else (transfer.peer, rank)
