"""What many ranks say, in a few numbers: a gang of thousands that goes on is judged by these alone.

Those of one report are made once, when it arrives.
"""

from collections.abc import Iterable, Sequence
from math import inf

from msgspec import Struct

from hedgerow.wire import PHASE_FIRST_STEP, PHASE_INIT, RANK_EXITED, RankReport
from hedgerow_operator.core.rank_reports import SOURCE_LOG, SOURCE_TORCH
from hedgerow_operator.core.stacks import Frame, place

_STARTING = (PHASE_INIT, PHASE_FIRST_STEP)


class RankSums(Struct, frozen=True, kw_only=True):
    """count: ranks; live: those that have not ended; failed, ended_well: whether any has.

    oldest, newest: longest and shortest time without progress of live ranks, by phase (seconds); one that cannot tell
    its own counts as 0 s in the shortest. places: where ranks stand whose stack is known, by rank. beating: every rank
    runs and has left its first step behind. least_step, least_torch_step: of ranks whose steps are the job's own, and
    of torch's hook. stepless: some rank names no step. pace: median length of steps, seconds. speaks: some tells by
    its log.
    """

    count: int = 0
    live: int = 0
    failed: bool = False
    ended_well: bool = False
    oldest: dict[str, float] = {}
    newest: dict[str, float] = {}
    places: dict[int, Frame | None] = {}
    beating: bool = True
    least_step: int | None = None
    least_torch_step: int | None = None
    stepless: bool = False
    pace: float | None = None
    speaks: bool = False

    def step(self, resumed: int) -> int | None:
        """The step that every rank has reached; torch's hook counts from the one that the attempt ``resumed`` from."""
        if self.stepless:
            return None
        torch = None if self.least_torch_step is None else self.least_torch_step + resumed
        return _least(self.least_step, torch)


def sums_of(reports: Iterable[RankReport]) -> RankSums:
    """The sums of some ranks."""
    ranks = list(reports)
    live = [rank for rank in ranks if rank.state != RANK_EXITED]
    ended = [rank.exit_code == 0 and rank.exit_signal is None for rank in ranks if rank.state == RANK_EXITED]
    paces = sorted(rank.step_seconds for rank in ranks if rank.step_seconds is not None)
    steps = [(rank.source == SOURCE_TORCH, rank.step) for rank in ranks if rank.step is not None]
    oldest: dict[str, float] = {}
    newest: dict[str, float] = {}
    for rank in live:
        age = rank.progress_age
        newest[rank.phase] = min(newest.get(rank.phase, age or 0.0), age or 0.0)
        if age is not None:
            oldest[rank.phase] = max(oldest.get(rank.phase, 0.0), age)
    return RankSums(
        count=len(ranks),
        live=len(live),
        failed=not all(ended),
        ended_well=any(ended),
        oldest=oldest,
        newest=newest,
        places={rank.rank: place(rank.stack) for rank in live if rank.stack},
        beating=not ended and all(rank.beats > 0 and rank.phase not in _STARTING for rank in live),
        least_step=min((step for torch, step in steps if not torch), default=None),
        least_torch_step=min((step for torch, step in steps if torch), default=None),
        stepless=len(steps) < len(ranks),
        pace=paces[len(paces) // 2] if paces else None,
        speaks=any(rank.source == SOURCE_LOG for rank in ranks),
    )


def together(parts: Sequence[RankSums]) -> RankSums:
    """The sums of several groups of ranks; the pace is the median of theirs."""
    oldest: dict[str, float] = {}
    newest: dict[str, float] = {}
    places: dict[int, Frame | None] = {}
    for part in parts:
        for phase, age in part.oldest.items():
            if age > oldest.get(phase, -1.0):
                oldest[phase] = age
        for phase, age in part.newest.items():
            if age < newest.get(phase, inf):
                newest[phase] = age
        if part.places:
            places.update(part.places)
    paces = sorted([part.pace for part in parts if part.pace is not None])
    steps = [part.least_step for part in parts if part.least_step is not None]
    torch_steps = [part.least_torch_step for part in parts if part.least_torch_step is not None]
    return RankSums(
        count=sum([part.count for part in parts]),
        live=sum([part.live for part in parts]),
        failed=any(part.failed for part in parts),
        ended_well=any(part.ended_well for part in parts),
        oldest=oldest,
        newest=newest,
        places=places,
        beating=all(part.beating for part in parts),
        least_step=min(steps, default=None),
        least_torch_step=min(torch_steps, default=None),
        stepless=any(part.stepless for part in parts),
        pace=paces[len(paces) // 2] if paces else None,
        speaks=any(part.speaks for part in parts),
    )


def _least(*steps: int | None) -> int | None:
    return min((step for step in steps if step is not None), default=None)
