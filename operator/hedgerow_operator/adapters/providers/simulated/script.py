"""How a simulated provider behaves: recorded courses or two modes drawn by a seed, and faults for some attempts."""

import math
import random
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hedgerow_operator.replay.hedging.rounds import Course


class Fault(StrEnum):
    """REFUSE: no attempt is taken (429). UNAUTHORIZED: nor are the credentials. HANG: it never answers. DIE: it fails
    in the middle of its run. LIE: it answers by nothing. CANCEL_IGNORED: the cancel is acknowledged, and it runs on.
    CANCEL_LOST: the cancel is not answered. STALL: its stream stops after a chunk. CUT: it breaks there.
    """

    REFUSE = "Refuse"
    UNAUTHORIZED = "Unauthorized"
    HANG = "Hang"
    DIE = "Die"
    LIE = "Lie"
    CANCEL_IGNORED = "CancelIgnored"
    CANCEL_LOST = "CancelLost"
    STALL = "Stall"
    CUT = "Cut"


class Misbehaviour(Struct, frozen=True, kw_only=True):
    """first, last: attempts by number from 1, last included; None: to the end. share: of them, drawn by the seed."""

    fault: Fault
    first: int = 1
    last: int | None = None
    share: float = 1.0


class Mode(Struct, frozen=True, kw_only=True):
    """Least and most seconds in the queue and of the run, evenly drawn between."""

    queue_seconds: tuple[float, float]
    run_seconds: tuple[float, float]


# The shape of GPUHedge's rounds: quick workers begin within 1.1 to 2.0 s, cold ones in 9 to 28 s and run for 100 s.
QUICK = Mode(queue_seconds=(1.1, 2.0), run_seconds=(3.5, 5.0))
COLD = Mode(queue_seconds=(8.9, 27.6), run_seconds=(90.0, 110.0))


class Script(Struct, frozen=True, kw_only=True):
    """courses: what the attempts take, in turn, and again from the beginning; empty: drawn from the modes.

    cold_share: of drawn attempts that are cold. time_scale: everything is so many times quicker. shows_queue: tells
    that an attempt waits, and when its worker begins; shows_start: tells the latter alone. cancel_seconds: from a
    cancel to its end. output: what is answered; None: who answered, and to which attempt.
    """

    courses: tuple[Course, ...] = ()
    seed: int = 0
    quick: Mode = QUICK
    cold: Mode = COLD
    cold_share: float = 0.25
    time_scale: float = 1.0
    shows_queue: bool = True
    shows_start: bool = True
    free_in_queue: bool = True
    cancel_seconds: float = 0.3
    faults: tuple[Misbehaviour, ...] = ()
    output: Any = None

    def course(self, number: int) -> Course:
        """What attempt ``number`` (from 1) takes, as quick as time is here."""
        return _quicker(self._course(number), self.time_scale)

    def _course(self, number: int) -> Course:
        if self.courses:
            return self.courses[(number - 1) % len(self.courses)]
        draw = self._draw(number, "course")
        mode = self.cold if draw.random() < self.cold_share else self.quick
        queue, run = draw.uniform(*mode.queue_seconds), draw.uniform(*mode.run_seconds)
        return Course(answer_seconds=queue + run, valid=True, queue_seconds=queue, execution_seconds=run)

    def faults_of(self, number: int) -> frozenset[Fault]:
        """How attempt ``number`` misbehaves."""
        return frozenset(
            one.fault
            for one in self.faults
            if one.first <= number <= (one.last if one.last is not None else math.inf)
            and self._draw(number, one.fault).random() < one.share
        )

    def _draw(self, number: int, purpose: str) -> random.Random:
        return random.Random(f"{self.seed} {number} {purpose}")  # noqa: S311  (no secret, but the same each time)


def _quicker(course: Course, times: float) -> Course:
    queue, run = course.queue_seconds, course.execution_seconds
    return replace(
        course,
        answer_seconds=course.answer_seconds / times,
        queue_seconds=None if queue is None else queue / times,
        execution_seconds=None if run is None else run / times,
    )
