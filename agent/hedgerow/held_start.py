"""An order to start that waits until what must not be resumed from is set aside: a storage may take its time."""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Optional, Sequence

from hedgerow.wire import COMMAND_START, Command


class Order(NamedTuple):
    """A start, and when the request was sent that it answered (CLOCK_BOOTTIME seconds)."""

    command: Command
    sent: float


class HeldStart:
    """The order that waits, if any. ``clear(attempt, chosen)`` begins the clearing, elsewhere."""

    def __init__(self, clear: Callable[[int, Optional[str]], None]) -> None:
        self._clear = clear
        self._order: Optional[Order] = None
        self._lines: List[str] = []

    def hold(self, command: Command, sent: float) -> None:
        """Keep the order; it may come again meanwhile, each time more recent."""
        before, self._order = self._order, Order(command, sent)
        if before is None or _what(before.command) != _what(command):
            self._clear(command.attempt, command.resume_from)

    def withdraw_unless(self, commands: Sequence[Command]) -> None:
        """The newest answer has these commands: an order that is not among them is not meant any more."""
        if self._order is not None and _what(self._order.command) not in [_what(command) for command in commands]:
            self._order = None

    def cleared(self, attempt: int, chosen: Optional[str], lines: Sequence[str]) -> Optional[Order]:
        """The order that may be carried out now, None when it was withdrawn. lines: what was done."""
        self._lines += lines
        order = self._order
        if order is None or _what(order.command) != (COMMAND_START, attempt, chosen):
            return None
        self._order = None
        return order

    def take_lines(self) -> List[str]:
        """What was done since the last start."""
        lines, self._lines = self._lines, []
        return lines


def _what(command: Command) -> "tuple[str, int, Optional[str]]":
    return command.kind, command.attempt, command.resume_from
