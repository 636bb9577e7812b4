"""``spec.alerts``, and the alarms that every job has: conditions on the numbers that its ranks tell."""

import math
import operator
from collections.abc import Callable

from hedgerow.logs import observation as names
from hedgerow.wire import RankReport, Report
from hedgerow_operator.api import reasons
from hedgerow_operator.api.alerts import ABSENT, IS_INFINITE, IS_NAN, SPIKE, AlertSpec, parse_when
from hedgerow_operator.core import phrases
from hedgerow_operator.core.alarms import LOSS_SPIKE, SpikeWatch, broken
from hedgerow_operator.core.watching.metrics import by_rank, told
from hedgerow_operator.core.watching.signs import MOST_RANKS, Sign

# A job that has trained for so long tells by now what it will ever tell.
NEVER_SEEN_SECONDS = 120.0
_MOST_NAMED = 12

BUILT_IN = (
    AlertSpec(name=broken(names.LOSS), metric=names.LOSS, when=IS_NAN),
    AlertSpec(name="infinite-loss", metric=names.LOSS, when=IS_INFINITE),
    AlertSpec(name=LOSS_SPIKE, metric=names.LOSS, when=SPIKE),
)
_TESTS: dict[str, Callable[[float, float], bool]] = {
    IS_NAN: lambda value, bound: math.isnan(value),
    IS_INFINITE: lambda value, bound: math.isinf(value),
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}


class AlertWatch:
    """One alert over all ranks of a gang."""

    def __init__(self, spec: AlertSpec) -> None:
        self.spec = spec
        self.seen = False
        self._when = parse_when(spec.when)
        self._since: float | None = None
        self._broken: dict[int, dict[int, float]] = {}
        self._spike = SpikeWatch(spec.metric, spec.name)
        self._spike_text = ""
        self._speaker: int | None = None
        self._step = -1
        self._told_at: float | None = None

    def add(self, report: Report, values: dict[int, float], now: float) -> None:
        """One report. values: of the alert's metric, by rank."""
        self.seen = self.seen or bool(values)
        if self._when.kind == ABSENT:
            self._absent(values, now, any(rank.beats for rank in report.ranks))
        elif self._when.kind == SPIKE:
            self._spikes(report.ranks, values, now)
        else:
            self._compare(report.worker, values, now)

    def sign(self, now: float) -> Sign | None:
        """What goes on, once it has lasted long enough."""
        if self._since is None or now - self._since < self.spec.for_seconds:
            return None
        ranks = sorted(rank for broken_ranks in self._broken.values() for rank in broken_ranks)
        message = f"alert {self.spec.name}: {self._what(ranks)}"
        return Sign(name=self.spec.name, reason=reasons.METRIC_ALERT, message=message, ranks=tuple(ranks[:MOST_RANKS]),
                    stop=self.spec.action == "Stop")

    def _hold(self, holds: bool, since: float) -> None:
        self._since = (since if self._since is None else self._since) if holds else None

    def _compare(self, worker: int, values: dict[int, float], now: float) -> None:
        test, bound = _TESTS[self._when.kind], self._when.bound
        found = {rank: value for rank, value in values.items() if test(value, bound)}
        if found:
            self._broken[worker] = found
        else:
            self._broken.pop(worker, None)
        self._hold(bool(self._broken), now)

    def _absent(self, values: dict[int, float], now: float, training: bool) -> None:
        if values or (self._told_at is None and training):
            self._told_at = now
        self._hold(self._told_at is not None and now > self._told_at, self._told_at or now)

    def _spikes(self, ranks: list[RankReport], values: dict[int, float], now: float) -> None:
        """By the lowest rank that tells it, one value a step."""
        for rank in ranks:
            if rank.rank not in values or (self._speaker is not None and rank.rank > self._speaker):
                continue
            step = rank.step if rank.step is not None else rank.beats
            if rank.rank == self._speaker and step == self._step:
                return
            self._speaker, self._step = rank.rank, step
            alarm = self._spike.add(values[rank.rank])
            self._spike_text = alarm.message if alarm is not None else ""
            self._hold(alarm is not None, now)
            return

    def _what(self, ranks: list[int]) -> str:
        name = self.spec.metric
        if self._when.kind == SPIKE:
            return self._spike_text
        if self._when.kind == ABSENT:
            return f"no rank tells {name} since {phrases.clock(self._since or 0.0)}"
        value = next(iter(next(iter(self._broken.values())).values()))
        text = "NaN" if math.isnan(value) else "infinite" if math.isinf(value) else f"{value:.6g}"
        limit = "" if self._when.kind in (IS_NAN, IS_INFINITE) else f" (alert {self.spec.when})"
        return f"{name} is {text}{limit} on {phrases.ranks(ranks)} since {phrases.clock(self._since or 0.0)}"


class AlertsWatch:
    """All alerts of a job; one of the spec takes the place of a built-in one of its name, or on the same."""

    def __init__(self, specs: tuple[AlertSpec, ...]) -> None:
        own = {spec.name for spec in specs}
        watched = {(spec.metric, spec.when) for spec in specs}
        self._asked = [AlertWatch(spec) for spec in specs]
        self._watches = [*self._asked, *(AlertWatch(spec) for spec in BUILT_IN
                                         if spec.name not in own and (spec.metric, spec.when) not in watched)]
        self._told: set[str] = set()
        self._training_since: float | None = None

    def judged(self) -> frozenset[str]:
        """Every alert."""
        return frozenset(watch.spec.name for watch in self._watches)

    def add(self, report: Report, now: float) -> None:
        """One report of the current attempt."""
        if self._training_since is None and any(rank.beats for rank in report.ranks):
            self._training_since = now
        if not all(watch.seen for watch in self._asked):
            self._told.update(told(report.ranks))
        values: dict[str, dict[int, float]] = {}
        for watch in self._watches:
            name = watch.spec.metric
            if name not in values:
                values[name] = by_rank(report.ranks, name)
            watch.add(report, values[name], now)

    def signs(self, now: float) -> list[Sign]:
        """What goes on, and which alerts watch for something that is never told."""
        going_on = [sign for watch in self._watches if (sign := watch.sign(now)) is not None]
        return going_on + [self._never_seen(watch.spec) for watch in self._asked if self._is_never_seen(watch, now)]

    def _is_never_seen(self, watch: AlertWatch, now: float) -> bool:
        if watch.seen or watch.spec.when == ABSENT or self._training_since is None:
            return False
        return now - self._training_since >= NEVER_SEEN_SECONDS

    def _never_seen(self, spec: AlertSpec) -> Sign:
        known = sorted(self._told)
        more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
        message = (
            f"alert {spec.name} watches the metric {spec.metric}, which no rank has told so far; told are: "
            f"{', '.join(known[:_MOST_NAMED]) or 'none'}{more}"
        )
        return Sign(name=spec.name, reason=reasons.METRIC_NEVER_SEEN, message=message)
