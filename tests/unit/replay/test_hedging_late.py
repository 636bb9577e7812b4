"""The adaptive policy where a provider is late at times: it is waited for if that is quicker than asking another."""

import pytest

from hedgerow_operator.replay.hedging.rounds import Course, Round
from hedgerow_operator.replay.hedging.session import CHOICES, Decided, HedgingReplay

COUNT = 150


def course(queue: float, work: float) -> Course:
    return Course(answer_seconds=queue + work, valid=True, queue_seconds=queue, execution_seconds=work)


def played(policy: str, late_queue: float, late_work: float) -> list[Decided]:
    """Every third attempt at the first is late; the second takes 15 s."""
    rounds = [
        Round(
            number=number,
            began_at=60.0 * number,
            courses={
                "runpod": course(late_queue, late_work) if number % 3 == 0 else course(1.2, 3.5),
                "cerebrium": course(3.0, 12.0),
                "modal": Course(answer_seconds=35.0, valid=True),
            },
        )
        for number in range(1, COUNT + 1)
    ]
    return HedgingReplay(CHOICES[policy]).all(rounds)


def hedged(decided: list[Decided]) -> int:
    return sum(len(one.outcome.runs) > 1 for one in decided)


@pytest.mark.parametrize("queue", [3.0, 5.0, 6.5])
def test_one_that_is_late_by_little_is_waited_for_once_that_is_known(queue: float) -> None:
    decided = played("adaptive", queue, 4.0)
    assert {one.outcome.winner for one in decided[6:]} == {"runpod"}
    assert hedged(decided) <= 8
    paid = sum(one.cost.active for one in decided)
    assert paid <= 1.2 * sum(one.cost.active for one in played("none", queue, 4.0))


def test_one_that_is_cold_is_overtaken_and_costs_nothing_in_its_queue() -> None:
    decided = played("adaptive", 15.0, 90.0)
    late = [one for one in decided if one.round.number % 3 == 0][2:]
    assert {one.outcome.winner for one in late} == {"cerebrium"}
    assert max(one.outcome.latency_seconds for one in late) < 17
    assert all(one.cost.active == pytest.approx(15 * 0.000736) for one in late)
