"""What a pretended job does, as a stream of intervals between boundaries: the language of the fault generator."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from hedgerow.wire import PHASE_STEP


class Look(StrEnum):
    """What the kernel and the stacks show of a rank that makes no progress."""

    WORKS = "uses the CPU, its stack moves"
    MOVES_BYTES = "uses no CPU, its bytes move"
    SPINS = "uses the CPU, its stack does not move"
    IDLE = "uses no CPU and moves no bytes"
    STORAGE = "waits for a disk that does not answer"
    STOPPED = "is stopped by a signal"
    HIDDEN = "nothing can be measured"


@dataclass(frozen=True)
class Shape:
    """One pretended job. seconds: a usual step; jitter: spread of its logarithm."""

    ranks: int
    seconds: float
    jitter: float
    seed: int

    @property
    def per_worker(self) -> int:
        """Ranks of one worker: eight GPUs a node."""
        return min(8, self.ranks)

    @property
    def workers(self) -> int:
        """Number of nodes."""
        return max(1, self.ranks // 8)

    @property
    def large(self) -> bool:
        """Whether one decision is so long that fewer are made: latencies can only become longer by it."""
        return self.ranks > 512


@dataclass(frozen=True)
class Exit:
    """Ranks end in an interval. after: seconds from its start."""

    ranks: tuple[int, ...]
    code: int | None = 1
    signal: int | None = None
    tail: tuple[str, ...] = ()
    after: float = 0.5


@dataclass(frozen=True)
class Odd:
    """Ranks that differ from the others. behind: they did not reach the step in which the others wait."""

    ranks: tuple[int, ...]
    look: Look = Look.IDLE
    phase: str | None = None
    behind: bool = False
    place: str = ""
    communication: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Interval:
    """The time between two boundaries of the gang.

    fault: it is, or belongs to, what has to be found; guilty: whom it should be put down to. own: the script finishes
    a training step with it. unheard: workers whose reports do not arrive. blind: the place where the workers run cannot
    be asked. shift: seconds that the operator's clock is wrong by. restarts: the operator begins anew.
    step_seconds, communication: as the ranks tell them (seconds). values, not_finite: numbers that they tell.
    """

    seconds: float
    phase: str = PHASE_STEP
    look: Look = Look.WORKS
    odd: Odd | None = None
    fault: bool = False
    guilty: tuple[int, ...] = ()
    exits: tuple[Exit, ...] = ()
    unheard: frozenset[int] = frozenset()
    dead_nodes: frozenset[int] = frozenset()
    blind: bool = False
    shift: float = 0.0
    restarts: bool = False
    source: str = "Library"
    bursty: bool = False
    steps: int = 1
    communication: float | None = None
    memory_bytes: int | None = None
    values: dict[str, float] = field(default_factory=dict)
    not_finite: dict[str, str] = field(default_factory=dict)


Stream = Iterator[Interval]
FOREVER = 7200.0


def pace(shape: Shape, chance: Random) -> float:
    """The length of one more step."""
    return shape.seconds * chance.lognormvariate(0.0, shape.jitter)


def healthy(shape: Shape, chance: Random, steps: int | None = None, **fields: object) -> Stream:
    """Start-up, the first step and so many more, with saving and evaluation now and then, all of them declared."""
    yield Interval(60.0 * chance.lognormvariate(0.0, 0.2), "init", steps=0, **fields)  # type: ignore[arg-type]
    yield Interval(5.0 * shape.seconds, "first-step", **fields)  # type: ignore[arg-type]
    yield from trains(shape, chance, steps, **fields)


def trains(shape: Shape, chance: Random, steps: int | None = None, **fields: object) -> Stream:
    """So many steps; every 20th is followed by saving, every 50th by an evaluation."""
    for number in range(1, (steps or usual_steps(shape)) + 1):
        yield Interval(pace(shape, chance), **fields)  # type: ignore[arg-type]
        if number % 20 == 0:
            yield saves(shape, chance)
        if number % 50 == 0:
            yield evaluates(shape, chance)


def usual_steps(shape: Shape) -> int:
    """Steps before something happens."""
    return 120 if shape.large else 400


def saves(shape: Shape, chance: Random, **fields: object) -> Interval:
    """A checkpoint of three steps' length."""
    seconds = 3.0 * shape.seconds * chance.lognormvariate(0.0, 0.2)
    return Interval(seconds, "checkpoint", Look.MOVES_BYTES, steps=0, **fields)  # type: ignore[arg-type]


def evaluates(shape: Shape, chance: Random, **fields: object) -> Interval:
    """An evaluation of twenty steps' length."""
    seconds = 20.0 * shape.seconds * chance.lognormvariate(0.0, 0.1)
    return Interval(seconds, "eval", steps=0, **fields)  # type: ignore[arg-type]
