"""How long a stall without decisive evidence is watched before acting.

Like renting skis (Karlin et al., Competitive Snoopy Caching, 1988): waiting about as long as a restart would cost
never costs more than twice the best that was possible.
"""

from hedgerow.wire import PHASE_FIRST_STEP, PHASE_INIT
from hedgerow_operator.core.durations import Phases, quantile

# A pause in which nobody stands out is most often one that the script makes itself: it is never watched for less.
TOGETHER_SECONDS = 60.0
# A start-up that was never seen to its end is taken to last this long.
UNKNOWN_STARTUP_SECONDS = 30.0


def restart_cost(learned: Phases, unsaved_seconds: float) -> float:
    """Seconds that a restart would cost: a usual start-up, and computing again what no checkpoint holds."""
    startup = sum(quantile(learned.get(phase, {}), 0.5) for phase in (PHASE_INIT, PHASE_FIRST_STEP))
    return (startup or UNKNOWN_STARTUP_SECONDS) + max(0.0, unsaved_seconds)


def together(cost: float, acted: int) -> float:
    """Seconds to watch a gang in which nobody stands out. ``acted``: times that this ended in a restart: each time
    twice as long, so that a pause that belongs to the job is lived through at last, and then learned.
    """
    return max(cost, TOGETHER_SECONDS * 2.0 ** min(acted, 16))


def remaining(cost: float, still_seconds: float, limit: float) -> float:
    """Seconds to go on watching a gang that has stood still for ``still_seconds``; never beyond ``limit``."""
    return max(0.0, min(cost, limit) - still_seconds)
