"""What the watches of a job see at one moment: the input of a decision."""

from msgspec import Struct

from hedgerow_operator.core.pause import Pause

MOST_RANKS = 16  # named in one sign


class Sign(Struct, frozen=True, kw_only=True):
    """Something unusual that goes on. name: what it is told apart by. stop: the user asked that the job fails."""

    name: str
    reason: str
    message: str
    ranks: tuple[int, ...] = ()
    stop: bool = False


class Baseline(Struct, frozen=True, kw_only=True):
    """What the job's pace was, to be remembered beyond an operator. load: what says how much work a step was.

    steps, communication: medians of blocks of samples, in seconds.
    """

    load: tuple[float, ...] = ()
    steps: tuple[float, ...] = ()
    communication: tuple[float, ...] = ()


class Signs(Struct, frozen=True, kw_only=True):
    """signs: what is unusual now. judged: names that could be judged, whether unusual or not; of others an open
    degradation stays as it is. baseline: as learned so far. durations: those of the attempt, of all launchers together.
    pauses: the newest of the job; None: nobody has followed it.
    """

    signs: tuple[Sign, ...] = ()
    judged: frozenset[str] = frozenset()
    baseline: Baseline = Baseline()
    durations: dict[str, dict[int, int]] = {}
    pauses: tuple[Pause, ...] | None = None
