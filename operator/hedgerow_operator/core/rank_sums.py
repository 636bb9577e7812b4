"""What many ranks say, in a few numbers: a gang of thousands that goes on is judged by these alone.

Those of one report are made once, when it arrives.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import inf

from msgspec import Struct, structs

from hedgerow.wire import PHASE_FIRST_STEP, PHASE_INIT, RANK_EXITED, RankReport
from hedgerow_operator.core.activity import Computing, computing, surely_idle
from hedgerow_operator.core.rank_reports import SOURCE_LOG, SOURCE_TORCH, STOPPED_STATES, tells
from hedgerow_operator.core.stacks import Frame, place

_STARTING = (PHASE_INIT, PHASE_FIRST_STEP)


class RankSums(Struct, frozen=True, kw_only=True, gc=False):
    """count: ranks; live: those that have not ended; failed, ended_well: whether any has.

    oldest, newest: longest and shortest time without progress of live ranks, by phase (seconds); one that cannot tell
    its own counts as 0 s in the shortest. places: where ranks stand whose stack is known, by rank. beating: every rank
    runs and has left its first step behind. least_step, least_torch_step: of ranks whose steps are the job's own, and
    of torch's hook. stepless: some rank names no step. pace: median length of steps, seconds. speaks: some tells by
    its log. most_step, most_torch_step: as the least. stopped, bursty, recorded, records: some live rank is stopped by
    a signal, tells by lines in bursts, has told of its flight recorder, has one. frozen: every live rank is seen to
    do nothing, whatever its deadline is; at_work: those that work, whatever theirs is. idle: each is surely idle.
    functions: how many ranks stand in
    each function (file, name), of those in places. telling: the sums of those that tell their own progress, None when
    all do.
    """

    count: int = 0
    live: int = 0
    failed: bool = False
    ended_well: bool = False
    oldest: dict[str, float] = {}
    newest: dict[str, float] = {}
    places: dict[int, Frame | None] = {}
    functions: dict[tuple[str, str], int] = {}
    beating: bool = True
    least_step: int | None = None
    least_torch_step: int | None = None
    stepless: bool = False
    pace: float | None = None
    speaks: bool = False
    most_step: int | None = None
    most_torch_step: int | None = None
    stopped: bool = False
    bursty: bool = False
    recorded: bool = False
    records: bool = False
    frozen: bool = True
    at_work: tuple[int, ...] = ()
    idle: bool = True
    telling: "RankSums | None" = None

    @property
    def even(self) -> bool:
        """Whether all ranks surely name the same step."""
        return self.closer_than(1)

    def closer_than(self, steps: int) -> bool:
        """Whether all ranks surely name steps that are less than so many apart."""
        if self.stepless or (self.least_step is not None and self.least_torch_step is not None):
            return False
        least, most = _least(self.least_step, self.least_torch_step), _most(self.most_step, self.most_torch_step)
        return least is not None and most is not None and most - least < steps

    def step(self, resumed: int) -> int | None:
        """The step that every rank has reached; torch's hook counts from the one that the attempt ``resumed`` from."""
        if self.stepless:
            return None
        torch = None if self.least_torch_step is None else self.least_torch_step + resumed
        return _least(self.least_step, torch)


def sums_of(reports: Iterable[RankReport]) -> RankSums:
    """The sums of some ranks."""
    ranks = list(reports)
    tell = [rank for rank in ranks if rank.source is not None or tells(rank)]
    sums = _sums_of(ranks)
    return sums if len(tell) == len(ranks) else structs.replace(sums, telling=_sums_of(tell))


def _sums_of(ranks: Sequence[RankReport]) -> RankSums:
    """Made for every report that arrives, so that each rank is looked at once, and what is rare (ends, stacks, hooks)
    costs something only where it is."""
    ended: list[bool] = []
    live: list[RankReport] = []
    own: list[int | None] = []
    torch: list[int | None] = []
    paces: list[float] = []
    oldest: dict[str, float] = {}
    newest: dict[str, float] = {}
    beating, speaks, stopped, bursty, recorded, records = True, False, False, False, False, False
    for rank in ranks:
        (torch if rank.source == SOURCE_TORCH else own).append(rank.step)
        if rank.step_seconds is not None:
            paces.append(rank.step_seconds)
        speaks = speaks or rank.source == SOURCE_LOG
        if rank.state == RANK_EXITED:
            ended.append(rank.exit_code == 0 and rank.exit_signal is None)
            continue
        live.append(rank)
        phase, age = rank.phase, rank.progress_age
        if age is None:
            newest[phase] = 0.0
        else:
            if age < newest.get(phase, inf):
                newest[phase] = age
            if age > oldest.get(phase, -1.0):
                oldest[phase] = age
        beating = beating and rank.beats > 0 and phase not in _STARTING
        stopped = stopped or rank.activity.process_state in STOPPED_STATES
        bursty = bursty or rank.bursty
        recorded = recorded or rank.collectives is not None
        records = records or rank.records
    paces.sort()
    places = {rank.rank: place(rank.stack) for rank in live if rank.stack}
    frozen, at_work = _work(live)
    return RankSums(
        count=len(ranks),
        live=len(live),
        failed=False in ended,
        ended_well=True in ended,
        oldest=oldest,
        newest=newest,
        places=places,
        functions=Counter([(frame.file, frame.function) for frame in places.values() if frame]) if places else {},
        beating=beating and not ended,
        least_step=_least(*own),
        least_torch_step=_least(*torch) if torch else None,
        stepless=None in own or None in torch,
        pace=paces[len(paces) // 2] if paces else None,
        speaks=speaks,
        most_step=_most(*own),
        most_torch_step=_most(*torch) if torch else None,
        stopped=stopped,
        bursty=bursty,
        recorded=recorded,
        records=records,
        frozen=frozen,
        at_work=at_work,
        idle=all(surely_idle(rank) for rank in live),
    )


def _work(live: Sequence[RankReport]) -> tuple[bool, tuple[int, ...]]:
    """Whether all stand whatever their deadline is, and who works whatever it is. What works by the shortest deadline
    works by any; what stands by the longest stands by any.
    """
    frozen, at_work = True, []
    for rank in live:
        if frozen and _shows(rank, inf) is Computing.FROZEN:
            continue
        frozen = False
        if _shows(rank, 0.0) is Computing.ACTIVE:
            at_work.append(rank.rank)
    return frozen, tuple(at_work)


def _shows(rank: RankReport, deadline: float) -> Computing:
    known = rank.progress_age is not None
    return computing(rank.activity, rank.progress_age, deadline) if known else Computing.UNKNOWN


def together(parts: Sequence[RankSums]) -> RankSums:
    """The sums of several groups of ranks; the pace is the median of theirs."""
    sums = _together(parts)
    if all(part.telling is None for part in parts):
        return sums
    return structs.replace(sums, telling=_together([part.telling or part for part in parts]))


def spoken_for(sums: RankSums, speaks: RankReport) -> RankSums:
    """The sums, once ranks that do not tell their own progress have that of the one that prints for all."""
    telling = sums.telling
    if telling is None:
        return sums
    oldest, newest, age = dict(telling.oldest), dict(telling.newest), speaks.progress_age or 0.0
    if sums.live > telling.live:
        oldest[speaks.phase] = max(oldest.get(speaks.phase, age), age)
        newest[speaks.phase] = min(newest.get(speaks.phase, age), age)
    ended = sums.count - sums.live > telling.count - telling.live
    return structs.replace(
        sums,
        oldest=oldest,
        newest=newest,
        telling=None,
        beating=telling.beating and not ended and speaks.beats > 0 and speaks.phase not in _STARTING,
        least_step=_least(telling.least_step, speaks.step),
        most_step=_most(telling.most_step, speaks.step),
        least_torch_step=telling.least_torch_step,
        most_torch_step=telling.most_torch_step,
        stepless=telling.stepless or speaks.step is None,
        bursty=telling.bursty or (speaks.bursty and sums.live > telling.live),
    )


def _together(parts: Sequence[RankSums]) -> RankSums:
    oldest: dict[str, float] = {}
    newest: dict[str, float] = {}
    places: dict[int, Frame | None] = {}
    functions: Counter[tuple[str, str]] = Counter()
    for part in parts:
        for phase, age in part.oldest.items():
            if age > oldest.get(phase, -1.0):
                oldest[phase] = age
        for phase, age in part.newest.items():
            if age < newest.get(phase, inf):
                newest[phase] = age
        if part.places:
            places.update(part.places)
            for function, amount in part.functions.items():
                functions[function] += amount
    paces = sorted([part.pace for part in parts if part.pace is not None])
    steps = [part.least_step for part in parts if part.least_step is not None]
    torch_steps = [part.least_torch_step for part in parts if part.least_torch_step is not None]
    return RankSums(
        count=sum([part.count for part in parts]),
        live=sum([part.live for part in parts]),
        failed=True in [part.failed for part in parts],
        ended_well=True in [part.ended_well for part in parts],
        oldest=oldest,
        newest=newest,
        places=places,
        functions=functions,
        beating=False not in [part.beating for part in parts],
        least_step=min(steps, default=None),
        least_torch_step=min(torch_steps, default=None),
        stepless=True in [part.stepless for part in parts],
        pace=paces[len(paces) // 2] if paces else None,
        speaks=True in [part.speaks for part in parts],
        most_step=max([part.most_step for part in parts if part.most_step is not None], default=None),
        most_torch_step=max([part.most_torch_step for part in parts if part.most_torch_step is not None], default=None),
        stopped=True in [part.stopped for part in parts],
        bursty=True in [part.bursty for part in parts],
        recorded=True in [part.recorded for part in parts],
        records=True in [part.records for part in parts],
        frozen=False not in [part.frozen for part in parts],
        at_work=tuple(chain.from_iterable([part.at_work for part in parts if part.at_work])),
        idle=False not in [part.idle for part in parts],
    )


def _most(*steps: int | None) -> int | None:
    return max([step for step in steps if step is not None], default=None)


def _least(*steps: int | None) -> int | None:
    return min([step for step in steps if step is not None], default=None)
