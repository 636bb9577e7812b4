"""What a source of evidence gives when it is asked who is guilty of a standstill.

A source is a function of the ranks that stand still: it names who differs, or says nothing. There are activity (process
states), progress (steps, phases), the flight recorders of collectives, silent launchers and stacks; exits and lost
nodes end an attempt by themselves (core.trouble). Lines of a log are progress, never evidence.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from hedgerow_operator.core.attribution.fault_class import FaultClass
from hedgerow_operator.core.gang import RankView


class Culprit(Struct, frozen=True, kw_only=True):
    """The guilty ranks (empty: not told) and why. decisive: acting at once is right, waiting could not clear it up."""

    ranks: tuple[int, ...] = ()
    why: str
    decisive: bool = False
    fault_class: FaultClass = FaultClass.UNKNOWN


Source = Callable[[Sequence[RankView]], Culprit | None]
