"""Who is guilty of a gang that stands still: who never reached the step, not those who wait for it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TypeVar

from hedgerow_operator.core import phrases
from hedgerow_operator.core.activity import surely_idle
from hedgerow_operator.core.collectives import nobody, not_joined
from hedgerow_operator.core.evidence import Culprit
from hedgerow_operator.core.gang import RankView
from hedgerow_operator.core.rank_reports import STOPPED_STATES
from hedgerow_operator.core.rank_sums import RankSums

__all__ = ["Culprit", "find_culprit", "where"]

Group = TypeVar("Group")

NOT_YET = "which rank is at fault cannot be told before it is seen where each of them stands"
NOBODY = "all ranks stand at the same point: the fabric or the storage that they share is the first suspect"


def find_culprit(live: Sequence[RankView], silent_ranks: Sequence[int], sums: RankSums) -> Culprit:
    """The culprit among live ranks that all stand still; ``silent_ranks`` belong to launchers that are not heard.

    sums: of all ranks; where they say that no rank can differ, thousands need not be compared. What is held back in a
    pipe says nothing of who is ahead.
    """
    return (
        (_stopped(live) if sums.stopped else None)
        or _by_reached(
            None if sums.even or sums.bursty else _unequal(live, sums), not_joined(live) if sums.recorded else None
        )
        or _silent(silent_ranks)
        or (_other_phase(live) if len(sums.newest) > 1 else None)
        or (_other_stack(live, sums) if len(sums.places) == len(live) else None)
        or (nobody(live) if sums.recorded else None)
        or Culprit(why=NOBODY if len(sums.places) == len(live) else NOT_YET)
    )


def _by_reached(steps: Culprit | None, collectives: Culprit | None) -> Culprit | None:
    """Of the ranks that are behind by their steps, those that the others wait for by their collectives. A dump may be
    older than the standstill: where it names others, the steps count."""
    if steps is None or (collectives is not None and set(collectives.ranks) <= set(steps.ranks)):
        return collectives or steps
    return steps


def where(rank: RankView) -> str:
    """Where the rank's main thread stands, as the start of a clause; empty when unknown."""
    frame = rank.place
    return f"stands at {frame}" if frame else ""


def _stopped(live: Sequence[RankView]) -> Culprit | None:
    stopped = [rank.rank for rank in live if rank.own.activity.process_state in STOPPED_STATES]
    if not stopped or len(stopped) == len(live) > 1:
        return None
    return Culprit(
        ranks=tuple(stopped),
        why=f"{phrases.ranks(stopped)} {'is' if len(stopped) == 1 else 'are'} stopped by a signal or debugger, "
        "the others wait",
        decisive=True,
    )


def _unequal(live: Sequence[RankView], sums: RankSums) -> Culprit | None:
    """Ranks that did not reach the step that others reached; decisive only if their process trees do nothing."""
    steps = [(rank.spoken or rank.own).step for rank in live]
    reached = [step for step in steps if step is not None]
    if not reached or (len(reached) == len(live) and min(reached) == max(reached)):
        return None
    furthest = max(reached)
    lowest = -1 if len(reached) < len(live) else min(reached)
    behind = [rank for rank, step in zip(live, steps, strict=True) if (-1 if step is None else step) == lowest]
    ahead = [rank.rank for rank, step in zip(live, steps, strict=True) if step == furthest]
    names = phrases.ranks([rank.rank for rank in behind])
    return Culprit(
        ranks=tuple(rank.rank for rank in behind),
        why=f"{names} never reached step {furthest}, which {phrases.ranks(ahead)} did and wait in"
        + (_stands(behind) if sums.places else ""),
        decisive=sums.idle or all(surely_idle(rank.report) for rank in behind),
    )


def _silent(silent_ranks: Sequence[int]) -> Culprit | None:
    if not silent_ranks:
        return None
    return Culprit(ranks=tuple(silent_ranks), why=f"{phrases.ranks(silent_ranks)} cannot be heard, the others wait")


def _other_phase(live: Sequence[RankView]) -> Culprit | None:
    phase_of = {rank.rank: rank.progress.phase for rank in live}
    common = _of_most(Counter(phase_of.values()))
    if common is None:
        return None
    odd = tuple(sorted([rank for rank, phase in phase_of.items() if phase != common]))
    phases = ", ".join(sorted({phase_of[rank] for rank in odd}))
    return Culprit(ranks=odd, why=f"{phrases.ranks(odd)} stands in phase {phases}, the others do not")


def _other_stack(live: Sequence[RankView], sums: RankSums) -> Culprit | None:
    if sum(sums.functions.values()) < len(live):
        return None
    common = _of_most(sums.functions)
    if common is None:
        return None
    odd = tuple(
        sorted([rank for rank, frame in sums.places.items() if frame and (frame.file, frame.function) != common])
    )
    named = frozenset(odd)
    behind = [rank for rank in live if rank.rank in named]
    return Culprit(ranks=odd, why=f"the others stand elsewhere than {phrases.ranks(odd)}" + _stands(behind))


def _of_most(amounts: Mapping[Group, int]) -> Group | None:
    """The one group that more than half, and not all, belong to; None when there is no such group."""
    common, amount = max(amounts.items(), key=itemgetter(1))
    every = sum(amounts.values())
    return common if every > amount > every - amount else None


def _stands(behind: Sequence[RankView]) -> str:
    places = {text: rank.rank for rank in behind if (text := where(rank))}
    return "".join(f"; rank {rank} {text}" for text, rank in places.items())
