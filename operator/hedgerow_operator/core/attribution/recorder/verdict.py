"""The verdict over all dumps of a job: guilty ranks, victims, the class of the fault and what it rests on.

Of several groups that stand still the one told is the first in the order of waiting: an operation that misses a guilty
rank, and that no rank has enqueued behind another such operation; of several, the one that most ranks wait in.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from hedgerow_operator.core.attribution.fault_class import Confidence, FaultClass
from hedgerow_operator.core.attribution.recorder import sentences
from hedgerow_operator.core.attribution.recorder.cause import class_of
from hedgerow_operator.core.attribution.recorder.culprits import Culprits, find_culprits
from hedgerow_operator.core.attribution.recorder.dump import RankDump, Work
from hedgerow_operator.core.attribution.recorder.gang import Gang
from hedgerow_operator.core.attribution.recorder.mismatch import Mismatch, find_mismatch
from hedgerow_operator.core.attribution.recorder.waits import Lack, Wait, find_waits


class RecorderVerdict(Struct, frozen=True, kw_only=True):
    """As ``hedgerow replay flight-recorder`` prints it. Ranks are global; collective: the operation told of."""

    guilty: tuple[int, ...] = ()
    victims: tuple[int, ...] = ()
    fault_class: FaultClass = field(default=FaultClass.UNKNOWN, name="class")
    group: str | None = None
    collective: dict[str, Any] | None = None
    confidence: Confidence = Confidence.NONE
    message: str
    evidence: tuple[str, ...] = ()


def judge_dumps(dumps: Sequence[RankDump]) -> RecorderVerdict:
    """The verdict. Renaming the ranks renames it and changes nothing else."""
    gang = Gang(dumps)
    mismatch = find_mismatch(gang)
    if mismatch is not None:
        return _mismatch(gang, mismatch)
    waits = list(find_waits(gang))
    culprits = find_culprits(gang, waits)
    if not culprits.ranks and gang.silent:
        waits = list(find_waits(gang, anywhere=True))
        culprits = find_culprits(gang, waits)
    return _culprits(gang, waits, culprits) if culprits.ranks else _nobody(gang, culprits.standing)


def _mismatch(gang: Gang, mismatch: Mismatch) -> RecorderVerdict:
    work = next(iter(mismatch.works.values()))
    return RecorderVerdict(
        guilty=mismatch.odd,
        victims=_others(gang, mismatch.odd),
        fault_class=FaultClass.APPLICATION,
        group=gang.groups[mismatch.group].title,
        collective=_collective(gang, work, joined=sorted(mismatch.works), missing=()),
        confidence=Confidence.CERTAIN,
        message=sentences.mismatch(gang, mismatch),
        evidence=sentences.sides(mismatch),
    )


def _culprits(gang: Gang, waits: Sequence[Wait], culprits: Culprits) -> RecorderVerdict:
    guilty = tuple(sorted(culprits.ranks))
    told = _first_of_chain(gang, waits, culprits.ranks)
    fault_class, reasons = class_of(gang, culprits)
    missing = tuple(rank for rank in told.absent if rank in culprits.ranks)
    proven = not gang.silent.intersection(guilty)
    return RecorderVerdict(
        guilty=guilty,
        victims=_others(gang, guilty),
        fault_class=fault_class,
        group=gang.groups[told.group].title,
        collective=_told(gang, waits, told, missing),
        confidence=Confidence.CERTAIN if proven else Confidence.LIKELY,
        message=sentences.never_joined(gang, told, guilty, culprits),
        evidence=reasons,
    )


def _nobody(gang: Gang, ends: frozenset[int]) -> RecorderVerdict:
    """Nobody is missing. ends: ranks at the ends of the chains, where it began; empty: all stand in the same."""
    standing = [work for dump in gang.dumps.values() for work in dump.first.values()
                if (not ends or dump.rank in ends) and gang.is_head(dump.rank, work.order)]  # fmt: skip
    standing = standing or [work for dump in gang.dumps.values() for work in dump.first.values()]
    if not standing:
        return RecorderVerdict(message="no collective is under way on any rank: nothing stands still")
    # The operation that most ranks stand in; by name when there are more.
    amounts = Counter((gang.groups[work.group].title, work.seq, work.op) for work in standing)
    chosen = max(amounts, key=lambda one: (amounts[one], one))
    work = next(one for one in standing if (gang.groups[one.group].title, one.seq, one.op) == chosen)
    joined = [rank for rank in gang.members[work.group] if rank in gang.dumps]
    return RecorderVerdict(
        victims=gang.world,
        fault_class=FaultClass.NETWORK,
        group=chosen[0],
        collective=_collective(gang, work, joined=joined, missing=()),
        confidence=Confidence.SUSPECTED,
        message=sentences.everyone_joined(gang, work),
    )


def _others(gang: Gang, guilty: Sequence[int]) -> tuple[int, ...]:
    named = frozenset(guilty)
    return tuple(rank for rank in gang.world if rank not in named)


def _first_of_chain(gang: Gang, waits: Sequence[Wait], guilty: frozenset[int]) -> Wait:
    """The wait for a guilty rank that no rank has behind another such wait; of several, the one of most ranks."""
    queues: dict[int, list[Wait]] = {}
    for wait in waits:
        if wait.lack is not Lack.REACHED and not guilty.isdisjoint(wait.absent):
            queues.setdefault(wait.rank, []).append(wait)
    behind = {_operation(wait) for queue in queues.values() for wait in sorted(queue, key=_order)[1:]}
    everything = [wait for queue in queues.values() for wait in queue]
    candidates = [wait for wait in everything if _operation(wait) not in behind] or everything
    amounts = Counter(_operation(wait) for wait in candidates)
    return max(
        candidates,
        key=lambda wait: (
            amounts[_operation(wait)],
            len(guilty.intersection(wait.absent)),
            gang.groups[wait.group].title,
        ),
    )


def _operation(wait: Wait) -> tuple[str, int | None, bool]:
    return wait.group, wait.seq, wait.transfer is None


def _order(wait: Wait) -> tuple[bool, int]:
    return (not wait.head, -1 if wait.order is None else wait.order)


def _told(gang: Gang, waits: Sequence[Wait], told: Wait, missing: tuple[int, ...]) -> dict[str, Any]:
    if told.transfer is not None:
        op = "send" if told.transfer.sends else "recv"
        return {"op": op, "seq": told.seq, "groupName": gang.groups[told.group].name, "pointToPoint": True,
                "joined": [told.rank], "missing": list(told.absent)}  # fmt: skip
    joined = sorted(
        {wait.rank for wait in waits if wait.group == told.group and wait.seq == told.seq}.difference(missing)
    )
    return _collective(gang, gang.dumps[told.rank].first[told.group], joined=joined, missing=missing)


def _collective(gang: Gang, work: Work, joined: Sequence[int], missing: Sequence[int]) -> dict[str, Any]:
    return {
        "op": work.op,
        "seq": work.seq,
        "groupName": gang.groups[work.group].name,
        "ranks": list(gang.members[work.group]),
        "joined": list(joined),
        "missing": list(missing),
        "state": work.state or None,
        "inputSizes": work.input_sizes,
        "outputSizes": work.output_sizes,
        "dtypes": work.input_dtypes,
    }
