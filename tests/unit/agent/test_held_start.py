"""A start waits for the checkpoint directory to be cleared, and is not carried out when it is withdrawn meanwhile."""

from __future__ import annotations

from hedgerow import wire
from hedgerow.held_start import HeldStart

START = wire.Command(wire.COMMAND_START, 2, resume_from="/c/step-10")
LATER = wire.Command(wire.COMMAND_START, 2, resume_from="/c/step-20")
STOP = wire.Command(wire.COMMAND_STOP, 2)


class Clearing:
    def __init__(self) -> None:
        self.asked: list[tuple[int, str | None]] = []
        self.held = HeldStart(lambda attempt, chosen: self.asked.append((attempt, chosen)))


def test_an_order_that_comes_again_is_cleared_for_once_and_is_as_recent_as_its_last_coming() -> None:
    clearing = Clearing()
    clearing.held.hold(START, 1.0)
    clearing.held.hold(START, 2.0)
    order = clearing.held.cleared(2, "/c/step-10", ["one"])
    assert order is not None
    assert (order.command, order.sent, clearing.asked) == (START, 2.0, [(2, "/c/step-10")])
    assert clearing.held.cleared(2, "/c/step-10", []) is None
    assert (clearing.held.take_lines(), clearing.held.take_lines()) == (["one"], [])


def test_an_order_that_the_newest_answer_does_not_repeat_is_withdrawn() -> None:
    for commands in ([], [STOP], [LATER]):
        clearing = Clearing()
        clearing.held.hold(START, 1.0)
        clearing.held.withdraw_unless([START])
        clearing.held.withdraw_unless(commands)
        assert clearing.held.cleared(2, "/c/step-10", []) is None


def test_an_order_from_another_checkpoint_is_cleared_for_anew() -> None:
    clearing = Clearing()
    clearing.held.hold(START, 1.0)
    clearing.held.hold(LATER, 2.0)
    assert clearing.asked == [(2, "/c/step-10"), (2, "/c/step-20")]
    assert clearing.held.cleared(2, "/c/step-10", []) is None
    assert clearing.held.cleared(2, "/c/step-20", []) is not None
