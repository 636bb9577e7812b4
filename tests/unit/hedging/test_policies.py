"""What each policy asks for, moment by moment. Times are seconds since the request began."""

from typing import Any

import pytest

from hedgerow_operator.core.hedging.adaptive import Adaptive
from hedgerow_operator.core.hedging.cutover import Cascade, QueueCutover
from hedgerow_operator.core.hedging.decision import NOTHING, Decision, Policy
from hedgerow_operator.core.hedging.fixed import Fixed, NoHedge, Race
from hedgerow_operator.core.hedging.seen import AttemptSeen, AttemptState, Pace, ProviderSeen, Situation

A = ProviderSeen(name="a", shows_start=True, free_in_queue=True)
B = ProviderSeen(name="b", shows_start=True)
C = ProviderSeen(name="c")
KNOWN_A = ProviderSeen(
    name="a", shows_start=True, free_in_queue=True, pace=Pace(start_seconds=1.2, start_limit=2.4, answer_seconds=6.0)
)
COLD_A = ProviderSeen(
    name="a", shows_start=True, free_in_queue=True, pace=Pace(start_seconds=1.2, start_limit=2.4, cold=True)
)
KNOWN_B = ProviderSeen(name="b", shows_start=True, pace=Pace(start_seconds=3.2, start_limit=6.0, answer_seconds=20.0))
LATE = {"start_seconds": 1.2, "start_limit": 2.4, "answer_seconds": 6.0, "late_start_seconds": 5.0}
QUICK_LATE_A = ProviderSeen(
    name="a", shows_start=True, free_in_queue=True, pace=Pace(late_answer_seconds=9.0, **LATE)
)
SLOW_LATE_A = ProviderSeen(
    name="a", shows_start=True, free_in_queue=True, pace=Pace(late_answer_seconds=30.0, **LATE)
)
SICK_B = ProviderSeen(name="b", shows_start=True, pace=Pace(late=0.7))
CLOSED_B = ProviderSeen(name="b", open=False)


def at(now: float, *attempts: AttemptSeen, providers: tuple[ProviderSeen, ...] = (A, B, C), **more: Any) -> Situation:
    return Situation(now=now, providers=providers, attempts=attempts, max_live=more.pop("max_live", 3), **more)


def queued(provider: str, launched: float = 0.0) -> AttemptSeen:
    return AttemptSeen(provider=provider, launched_at=launched, state=AttemptState.QUEUED)


def running(provider: str, launched: float = 0.0, started: float = 1.0) -> AttemptSeen:
    return AttemptSeen(provider=provider, launched_at=launched, state=AttemptState.RUNNING, started_at=started)


def unknown(provider: str, launched: float = 0.0, started: float | None = None) -> AttemptSeen:
    return AttemptSeen(provider=provider, launched_at=launched, started_at=started)


def ended(provider: str, state: AttemptState, launched: float = 0.0) -> AttemptSeen:
    return AttemptSeen(provider=provider, launched_at=launched, state=state)


def launch(*names: str, **more: Any) -> Decision:
    return Decision(launch=names, **more)


FAILED, INVALID, CANCELLED = AttemptState.FAILED, AttemptState.INVALID, AttemptState.CANCELLED
KNOWN = (KNOWN_A, KNOWN_B, C)
TABLE: dict[str, tuple[Policy, Situation, Decision]] = {
    "none begins with the first": (NoHedge(), at(0), launch("a")),
    "none begins with the first that is open": (NoHedge(), at(0, providers=(CLOSED_B, C)), launch("c")),
    "none waits": (NoHedge(), at(500, queued("a")), NOTHING),
    "none goes on elsewhere after a failure": (NoHedge(), at(2, ended("a", FAILED)), launch("b")),
    "none goes on elsewhere after an invalid answer": (NoHedge(), at(2, ended("a", INVALID)), launch("b")),
    "race begins everywhere": (Race(), at(0), launch("a", "b", "c")),
    "race begins with as many as may live": (Race(), at(0, max_live=2), launch("a", "b")),
    "race fills the place of one that failed": (
        Race(), at(1, ended("a", FAILED), unknown("b"), max_live=2), launch("c")
    ),
    "fixed waits until its time": (Fixed(10), at(3, running("a")), Decision(again_at=10)),
    "fixed begins a second at its time": (Fixed(10), at(10, running("a")), launch("b")),
    "fixed begins a second at once after a failure": (Fixed(10), at(3, ended("a", FAILED)), launch("b")),
    "fixed begins no third": (Fixed(10), at(30, running("a"), unknown("b", 10)), NOTHING),
    "fixed begins none where load forbids": (Fixed(10), at(10, running("a"), may_hedge=False), launch()),
    "cutover waits for its look at the queue": (QueueCutover(), at(1, queued("a")), Decision(again_at=2.5)),
    "cutover switches when it is queued still": (QueueCutover(), at(2.5, queued("a")), launch("b", cancel=("a",))),
    "cutover keeps what runs, until the safety hedge": (QueueCutover(), at(2.5, running("a")), Decision(again_at=8.5)),
    "cutover hedges at the safety time": (QueueCutover(), at(8.5, running("a")), launch("b")),
    "cutover keeps the only one": (QueueCutover(), at(2.5, queued("a"), providers=(A,)), NOTHING),
    "cascade waits for its third": (
        Cascade(), at(8.5, ended("a", CANCELLED), unknown("b", 2.5)), Decision(again_at=25.0)
    ),
    "cascade begins a third where one lives": (
        Cascade(), at(25, ended("a", CANCELLED), unknown("b", 2.5)), launch("c")
    ),
    "cascade begins no third beside two": (Cascade(), at(25, running("a"), unknown("b", 8.5)), NOTHING),
    "cascade begins a third at once when all failed": (
        Cascade(), at(9, ended("a", FAILED), ended("b", INVALID)), launch("c")
    ),
    "adaptive waits as told until it knows": (Adaptive(), at(1, queued("a")), Decision(again_at=2.5)),
    "adaptive waits as long as the provider usually needs": (
        Adaptive(), at(1, queued("a"), providers=KNOWN), Decision(again_at=1.26)
    ),
    "adaptive backs up what has not begun by then": (
        Adaptive(), at(1.26, queued("a"), providers=KNOWN), launch("b")
    ),
    "adaptive backs up at once what will be cold": (
        Adaptive(), at(0, queued("a"), providers=(COLD_A, KNOWN_B, C)), launch("b")
    ),
    "adaptive keeps the free place in the queue meanwhile": (
        Adaptive(), at(2, queued("a"), unknown("b", 1.26), providers=KNOWN), Decision(again_at=5.26)
    ),
    "adaptive keeps it for a while when the backup has begun, since it may be quicker": (
        Adaptive(), at(4.5, queued("a"), unknown("b", 1.26, 4.4), providers=KNOWN),
        Decision(again_at=pytest.approx(7.2)),
    ),
    "adaptive waits for what is quicker than another though it is late": (
        Adaptive(), at(1.26, queued("a"), providers=(QUICK_LATE_A, KNOWN_B, C)), Decision(again_at=5.25)
    ),
    "adaptive backs it up too when it is later than its late ones": (
        Adaptive(), at(5.25, queued("a"), providers=(QUICK_LATE_A, KNOWN_B, C)), launch("b")
    ),
    "adaptive does not wait for what is slower than another once it is late": (
        Adaptive(), at(1.26, queued("a"), providers=(SLOW_LATE_A, KNOWN_B, C)), launch("b")
    ),
    "adaptive keeps a place beside a backup that will be slower": (
        Adaptive(), at(8, queued("a"), unknown("b", 1.26, 4.4), providers=(QUICK_LATE_A, KNOWN_B, C)),
        Decision(again_at=26.26),
    ),
    "adaptive gives the free place up when the backup has begun": (
        Adaptive(), at(7.21, queued("a"), unknown("b", 1.26, 4.4), providers=KNOWN), Decision(cancel=("a",))
    ),
    "adaptive backs up a backup that does not begin": (
        Adaptive(), at(5.26, queued("a"), unknown("b", 1.26), providers=KNOWN), launch("c")
    ),
    "adaptive gives the free place up when two others are there": (
        Adaptive(), at(7.21, queued("a"), unknown("b", 1.26), unknown("c", 5.26), providers=KNOWN),
        Decision(cancel=("a",)),
    ),
    "adaptive gives the backup up when the first begins in time after all": (
        Adaptive(), at(1.9, running("a", 0.0, 1.9), unknown("b", 1.26), providers=KNOWN), Decision(cancel=("b",))
    ),
    "adaptive keeps the backup when the first begins as a cold one": (
        Adaptive(), at(4.0, running("a", 0.0, 4.0), unknown("b", 1.26), providers=KNOWN), Decision(again_at=7.5)
    ),
    "adaptive asks what was sick lately last": (
        Adaptive(), at(2.5, queued("a"), providers=(A, SICK_B, C)), launch("c")
    ),
    "adaptive passes over what is closed": (
        Adaptive(), at(2.5, queued("a"), providers=(A, CLOSED_B, C)), launch("c")
    ),
    "adaptive goes on at once after a refusal, when the first is late too": (
        Adaptive(), at(1.27, queued("a"), ended("b", FAILED, 1.26), providers=KNOWN), launch("c")
    ),
    "adaptive hedges an answer that is late": (
        Adaptive(), at(7.5, running("a", 0.0, 1.0), providers=KNOWN), launch("b")
    ),
    "adaptive begins none more than may live": (
        Adaptive(), at(9, queued("a"), unknown("b", 1.26), max_live=2), Decision(again_at=None)
    ),
}  # fmt: skip


@pytest.mark.parametrize(("policy", "situation", "decision"), TABLE.values(), ids=TABLE.keys())
def test_it_asks_for(policy: Policy, situation: Situation, decision: Decision) -> None:
    found = policy.decide(situation)
    assert (found.launch, found.cancel) == (decision.launch, decision.cancel)
    assert found.again_at == (None if decision.again_at is None else pytest.approx(decision.again_at))


@pytest.mark.parametrize("policy", [NoHedge(), Race(), Fixed(), QueueCutover(), Cascade(), Adaptive()], ids=str)
def test_whatever_the_policy_a_request_that_all_refuse_ends(policy: Policy) -> None:
    situation = at(0.0)
    for _ in range(10):
        decision = policy.decide(situation)
        if not decision.launch:
            break
        new = tuple(ended(name, FAILED, situation.now) for name in decision.launch)
        situation = at(situation.now, *situation.attempts, *new)
    assert not policy.decide(situation).launch
    assert len({attempt.provider for attempt in situation.attempts}) == len(situation.attempts)
