"""The verdict over flight-recorder dumps in words."""

from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.recorder.culprits import Culprits
from hedgerow_operator.core.attribution.recorder.dump import Work
from hedgerow_operator.core.attribution.recorder.gang import Gang
from hedgerow_operator.core.attribution.recorder.mismatch import Mismatch
from hedgerow_operator.core.attribution.recorder.waits import Lack, Wait

_MAX_SIDES = 8


def never_joined(gang: Gang, told: Wait, guilty: tuple[int, ...], culprits: Culprits) -> str:
    """Who did not join what, and who waits there."""
    if told.transfer is not None:
        verb = "send to" if told.transfer.sends else "receive from"
        what = f"rank {told.rank} waits in {gang.groups[told.group].title} to {verb} {phrases.ranks(told.absent)}"
        return f"{phrases.ranks(guilty)} took no part in a transfer: {what}"
    work = gang.dumps[told.rank].first[told.group]
    where = _where(gang, work)
    if culprits.deadlocked and not culprits.never_joined:
        return f"{phrases.ranks(guilty)} wait for one another, first in {where}"
    if told.lack is Lack.STARTED:
        return (
            f"{phrases.ranks(guilty)} enqueued {where} and did not begin it: the GPU is busy with something before it"
        )
    return f"{phrases.ranks(guilty)} never joined {where}; the others wait"


def everyone_joined(gang: Gang, work: Work) -> str:
    """When no rank is missing anywhere."""
    return (
        f"every rank joined what it was waited for in, first {_where(gang, work)}, and it does not end: "
        "the fabric or the storage that all share is the first suspect, no rank"
    )


def mismatch(gang: Gang, found: Mismatch) -> str:
    """Who differs, and in what."""
    where = f"in the {found.aspect} of collective {found.seq} of {gang.groups[found.group].title}"
    if not found.odd:
        return f"ranks differ {where}, and no side is in the majority: a program fault"
    return f"{phrases.ranks(found.odd)} differ{'s' if len(found.odd) == 1 else ''} from the others {where}"


def sides(found: Mismatch) -> tuple[str, ...]:
    """What each side of a mismatch does."""
    by_work: dict[str, list[int]] = {}
    for rank, work in found.works.items():
        words = f"{work.op or 'an unnamed operation'} of {_shape(work)}"
        by_work.setdefault(words, []).append(rank)
    return tuple(f"{phrases.ranks(ranks)}: {words}" for words, ranks in list(by_work.items())[:_MAX_SIDES])


def _where(gang: Gang, work: Work) -> str:
    return f"{work.op or 'collective'} {work.seq} of {gang.groups[work.group].title}"


def _shape(work: Work) -> str:
    if work.input_sizes is None:
        return "unknown size"
    shapes = " and ".join("x".join(map(str, shape)) or "1 element" for shape in work.input_sizes) or "no tensor"
    return f"{shapes} {'/'.join(sorted(set(work.input_dtypes or ())))}".rstrip()
