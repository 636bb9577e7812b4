"""The pace of a gang, round by round: slower than its own past, in steps or in communication; ranks behind others."""

import statistics
from collections.abc import Mapping

from hedgerow_operator.api import reasons
from hedgerow_operator.api.recovery import SlowdownSpec
from hedgerow_operator.core import phrases
from hedgerow_operator.core.slowdown import Sampling, Slow, SlowdownWatch
from hedgerow_operator.core.stragglers import CLOSE_FACTOR, FACTOR, StragglerWatch
from hedgerow_operator.core.watching.digest import Digest
from hedgerow_operator.core.watching.signs import MOST_RANKS, Baseline, Sign

# A launcher tells the median of its last 33 intervals: until a third of them are new, it says the same thing again.
# An interval is a step, or many where lines come every so many steps, or in bursts.
FRESH_INTERVALS, TOLD_INTERVALS = 11, 33
# Such a median is steadier than a step, so that fewer will do: about 90 steps of the past, and 66 to compare. So many
# errors, since overlap is counted: pretended jobs whose pace never changes are wronged once in 75,000 steps or less.
REPORT_BY_REPORT = Sampling(warm_up=2, least_baseline=8, least_window=6, block=12, errors=3.5)
# Communication is measured once a minute.
MINUTE_BY_MINUTE = Sampling(warm_up=1, least_baseline=5, least_window=3, block=8)
# Communication that grew by less than this share of a step slows nothing down.
COMMUNICATION_SHARE = 0.01
# Up to so many ranks each is compared with the others; beyond, the slowest of each worker.
MOST_COMPARED = 512
LEAST_COMPARED = 4
# A rank that is behind the others is told of after so many rounds: by then its window is another one.
PEER_ROUNDS = 12
PEER_SHARE = 0.25
BASELINE_BLOCKS = 32
PROPOSAL = "nothing is restarted"
NO_RANK = "no rank differs from the others"
# Ranks that wait for each other step alike, whichever of them is slow.
NONE_SEEN = "no rank is seen to differ, but the time in which ranks wait for each other is not measured"


class PaceWatch:
    """Fed with one round after the other: what every launcher said at about the same time."""

    def __init__(self, spec: SlowdownSpec, baseline: Baseline) -> None:
        self._spec = spec
        self._steps = SlowdownWatch(
            spec.threshold_percent, float(spec.window_seconds), baseline.steps, baseline.load, REPORT_BY_REPORT
        )
        self._communication = SlowdownWatch(
            spec.threshold_percent, float(spec.window_seconds), baseline.communication, baseline.load, MINUTE_BY_MINUTE
        )
        self._stragglers = StragglerWatch()
        self._straggling: dict[str, float] = {}
        self._behind: dict[str, int] = {}  # in how many rounds in a row
        self._load = baseline.load
        self._seconds = self._measured = 0.0
        self._counted = float("-inf")
        self._named: dict[int, float] = {}
        self._waits_known = False
        self._ranks: dict[str, int] = {}

    @property
    def baseline(self) -> Baseline:
        """What is worth remembering."""
        steps, communication = _kept(self._steps.blocks), _kept(self._communication.blocks)
        return Baseline(load=self._load, steps=steps, communication=communication)

    def judged(self) -> frozenset[str]:
        """The names that can be judged by now."""
        steps, communication = self._steps.settled, self._communication.settled
        settled = {
            reasons.SLOWER_THAN_BASELINE: steps,
            reasons.SLOWER_THAN_PEERS: steps,
            reasons.COMMUNICATION_SLOW: communication,
        }
        return frozenset(name for name, known in settled.items() if known)

    def add(self, now: float, digests: Mapping[int, Digest]) -> None:
        """A round in which the gang stepped on."""
        paces = [entry.step_seconds for entry in digests.values() if entry.step_seconds is not None]
        if not paces:
            return
        self._seconds = statistics.median(paces)
        self._load = next((entry.load for entry in digests.values() if entry.load), ())
        self._waits_known = any(entry.communication is not None for entry in digests.values())
        was_slow = self._steps.slow is not None
        intervals = max(entry.intervals for entry in digests.values())
        # Launchers that were begun anew count from nothing.
        if not self._counted <= intervals < self._counted + FRESH_INTERVALS:
            fresh = intervals - self._counted if intervals > self._counted else float(TOLD_INTERVALS)
            self._counted = intervals
            self._steps.add(now, self._seconds, self._load, min(1.0, fresh / TOLD_INTERVALS))
        self._compare(_own(digests))
        if self._steps.slow is not None and not was_slow:
            self._named = self._who_differs(self._steps.slow)
        self._communicate(now, [entry.communication for entry in digests.values() if entry.communication is not None])

    def signs(self) -> list[Sign]:
        """What is slow now; a slow link or a slow rank is why the steps are slow, and no second trouble."""
        communication = self._slow_communication()
        steps = self._steps.slow
        if steps is not None:
            return [self._slow_steps(steps, communication)]
        if communication is not None:
            return [
                Sign(
                    name=reasons.COMMUNICATION_SLOW,
                    reason=reasons.COMMUNICATION_SLOW,
                    message=f"{_grew('communication takes', communication)}; {PROPOSAL}",
                )
            ]
        slow = self._slow_ranks()
        return [self._slower_than_peers(slow)] if slow else []

    def _communicate(self, now: float, measured: list[float]) -> None:
        """Each measure counts once."""
        if measured and min(measured) != self._measured:
            self._measured = min(measured)
            self._communication.add(now, self._measured, self._load)

    def _slow_communication(self) -> Slow | None:
        slow = self._communication.slow
        return slow if slow is not None and slow.now - slow.usual >= COMMUNICATION_SHARE * self._seconds else None

    def _compare(self, own: dict[int, tuple[int, float]]) -> None:
        """own: by what is compared (rank, or worker), the rank and its seconds."""
        samples = {str(key): seconds for key, (_rank, seconds) in own.items()}
        self._ranks = {str(key): rank for key, (rank, _seconds) in own.items()}
        self._straggling = self._stragglers.add(samples).factors if len(samples) > 1 else {}
        middle = statistics.median(samples.values()) if len(samples) >= LEAST_COMPARED else float("inf")
        behind = [key for key, seconds in samples.items() if seconds >= FACTOR * middle]
        if len(behind) > PEER_SHARE * len(samples):
            behind = []
        told = {
            key
            for key, rounds in self._behind.items()
            if rounds >= PEER_ROUNDS and (key in self._straggling or samples.get(key, 0.0) >= CLOSE_FACTOR * middle)
        }
        clearly = {key for key, factor in self._straggling.items() if factor >= FACTOR}
        self._behind = {key: self._behind.get(key, 0) + 1 for key in {*behind, *clearly, *told}}

    def _slow_ranks(self) -> dict[int, float]:
        """Rank -> how many times its own pace it takes; 0.0: it was never as fast as the others."""
        lasting = [key for key, rounds in self._behind.items() if rounds >= PEER_ROUNDS and key in self._ranks]
        return {self._ranks[key]: self._straggling.get(key, 0.0) for key in lasting}

    def _who_differs(self, slow: Slow) -> dict[int, float]:
        """Ranks that compute longer than they did, while most others do not."""
        least = 1.0 + slow.percent / 200.0
        odd = {key: factor for key, factor in self._stragglers.relative.items() if factor >= least}
        if 2 * len(odd) > len(self._stragglers.relative):
            return {}
        return {self._ranks[key]: factor for key, factor in odd.items() if key in self._ranks}

    def _slow_steps(self, slow: Slow, communication: Slow | None) -> Sign:
        text = f"{_grew('steps take', slow)} since {phrases.clock(slow.since)}"
        if self._named:
            reason, because = reasons.SLOWER_THAN_PEERS, self._factors(self._named)
        elif communication is not None:
            reason, because = reasons.COMMUNICATION_SLOW, f"because {_grew('communication takes', communication)}"
        else:
            reason, because = reasons.SLOWER_THAN_BASELINE, NO_RANK if self._waits_known else NONE_SEEN
        return Sign(
            name=reasons.SLOWER_THAN_BASELINE,
            reason=reason,
            ranks=_first(self._named),
            message=f"{text}; {because}; {PROPOSAL}",
        )

    def _slower_than_peers(self, slow: dict[int, float]) -> Sign:
        return Sign(
            name=reasons.SLOWER_THAN_PEERS,
            reason=reasons.SLOWER_THAN_PEERS,
            ranks=_first(slow),
            message=f"{self._factors(slow)}; {PROPOSAL}",
        )

    @staticmethod
    def _factors(slow: dict[int, float]) -> str:
        names, factor = phrases.ranks(slow), max(slow.values())
        verb = "computes" if len(slow) == 1 else "compute"
        if factor == 0.0:
            return f"{names} {verb} more than {FACTOR:g} times as long as the others"
        return f"{names} {verb} {factor:.1f} times as long as before, the others do not"


def _own(digests: Mapping[int, Digest]) -> dict[int, tuple[int, float]]:
    if sum(len(entry.own) for entry in digests.values()) <= MOST_COMPARED:
        return {rank: (rank, seconds) for entry in digests.values() for rank, seconds in entry.own.items()}
    own = {worker: entry.own for worker, entry in digests.items() if entry.own}
    return {worker: max(ranks.items(), key=lambda item: item[1]) for worker, ranks in own.items()}


def _first(ranks: Mapping[int, float]) -> tuple[int, ...]:
    return tuple(sorted(ranks))[:MOST_RANKS]


def _grew(what: str, slow: Slow) -> str:
    return (
        f"{what} {slow.percent:.0f} % longer than this job's own ({phrases.seconds(slow.now)}, usually "
        f"{phrases.seconds(slow.usual)})"
    )


def _kept(blocks: list[float]) -> tuple[float, ...]:
    """Evenly over the whole past, a few digits of each."""
    stride = -(-len(blocks) // BASELINE_BLOCKS) or 1
    return tuple(float(f"{seconds:.4g}") for seconds in blocks[::stride])
