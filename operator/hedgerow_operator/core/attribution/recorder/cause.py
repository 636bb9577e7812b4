"""What kind of fault keeps a rank from joining, as far as its own dump tells."""

from collections.abc import Iterable

from hedgerow_operator.core import phrases
from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.attribution.recorder.culprits import Culprits
from hedgerow_operator.core.attribution.recorder.gang import Gang

_WHY = {
    FaultClass.HARDWARE: "work that all peers have completed is not complete there: "
    "the GPU or its driver does not answer",
    FaultClass.APPLICATION: "all issued work is complete and a dump was written, but the program issues no more: "
    "a held lock (the GIL), data loading, or code that does not return",
    FaultClass.UNKNOWN: "the dump does not tell what it is busy with",
}
_SILENT = "no dump: dead, frozen, or on a node that cannot be reached"


def class_of(gang: Gang, culprits: Culprits) -> tuple[FaultClass, tuple[str, ...]]:
    """The class if all guilty ranks tell of the same one, else Unknown; and a sentence for each kind of guilty rank."""
    if culprits.deadlocked and not culprits.never_joined:
        names = phrases.ranks(culprits.deadlocked)
        return FaultClass.APPLICATION, (f"{names} wait for one another: groups are used in a different order",)
    kinds: dict[FaultClass, list[int]] = {}
    for rank in sorted(culprits.never_joined.difference(gang.silent)):
        kinds.setdefault(_kind(gang, rank), []).append(rank)
    silent = sorted(culprits.never_joined & gang.silent)
    sentences = [f"{phrases.ranks(ranks)}: {_WHY[kind]}" for kind, ranks in kinds.items()]
    if silent:
        sentences.append(f"{phrases.ranks(silent)}: {_SILENT}")
    return _only(kinds), tuple(sentences)


def _kind(gang: Gang, rank: int) -> FaultClass:
    dump = gang.dumps[rank]
    if not dump.first and not dump.transfers:
        return FaultClass.APPLICATION
    return FaultClass.HARDWARE if gang.is_left_behind(rank) else FaultClass.UNKNOWN


def _only(kinds: Iterable[FaultClass]) -> FaultClass:
    found = set(kinds)
    return found.pop() if len(found) == 1 else FaultClass.UNKNOWN
