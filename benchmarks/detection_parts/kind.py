"""What a kind of trouble, or of a healthy habit, is to the generator."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from detection_parts.stream import Shape, Stream


class Wanted(StrEnum):
    """RESTART: found and restarted. STOP: found and ended. TELL: a person is told, nothing restarted. CALM: nothing."""

    RESTART = "restart"
    STOP = "stop"
    TELL = "tell"
    CALM = "calm"


@dataclass(frozen=True)
class Kind:
    """A kind of stream. least_ranks: smaller jobs cannot have it. attempts_before: so many went on well. watched: each
    step counts, so that the reports of calm times are heard too; they are left out where only a standstill can matter.
    """

    name: str
    wanted: Wanted
    make: Callable[[Shape, Random], Stream]
    least_ranks: int = 1
    attempts_before: int = 0
    watched: bool = False

    def plain(self) -> "Kind":
        """The same with a function that can travel between processes; it makes nothing."""
        return replace(self, make=nothing)


def nothing(shape: Shape, chance: Random) -> Stream:
    """An empty stream."""
    return iter(())


class Register:
    """The kinds of one module, in order."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []

    def add(self, name: str, wanted: Wanted, least_ranks: int = 1,
            attempts_before: int = 0, watched: bool = False) -> Callable[[Callable[[Shape, Random], Stream]], None]:
        """Decorates the function that makes its streams."""

        def keep(make: Callable[[Shape, Random], Stream]) -> None:
            self.kinds.append(Kind(name, wanted, make, least_ranks, attempts_before, watched))

        return keep


def some_rank(shape: Shape, chance: Random) -> int:
    """The rank that it happens to."""
    return chance.randrange(shape.ranks)
