"""The faults of fault_script.py, and how a job that suffers one is expected to end; whoever runs the ranks."""

from pathlib import Path
from typing import NamedTuple

from hedgerow_operator.api import reasons

SCRIPT = Path(__file__).with_name("fault_script.py")


class Healed(NamedTuple):
    """What the history says of the attempt in which rank 1 suffered, and the step from which the next one went on."""

    reason: str
    words: str
    fault_class: str = "Unknown"
    resumed: int | None = 20  # the newest checkpoint before step 23


LAST = 40
STUCK = "rank 1 never reached step 23"
GONE = "No such file or directory: 'batch'"
HEALED = {
    "lock": Healed(reasons.NO_PROGRESS, STUCK),
    "loop": Healed(reasons.NO_PROGRESS, STUCK),
    "pipe": Healed(reasons.NO_PROGRESS, STUCK),
    "stop": Healed(reasons.RANK_STOPPED, "is stopped by a signal or debugger"),
    "kill": Healed(reasons.RANK_EXITED, "rank 1 exited by signal 9 at step 22"),
    "memory": Healed(reasons.RANK_EXITED, "MemoryError", "Application"),
    "storage": Healed(reasons.RANK_EXITED, GONE, "Storage"),
    "everything": Healed(reasons.RANK_EXITED, GONE, "Storage", resumed=None),
}
EVERYWHERE = "everywhere"
EVERYWHERE_SAID = "no such column: price"
# Four ranks, of which most steps wait for nobody: so each is seen to be as fast as it is.
SLOW = {"FAULTY_STEP": "3", "WORK_SECONDS": "0.02", "STEP_SECONDS": "0.1", "REDUCE_EVERY": "3", "STEPS": "100000"}
SLOW_RANKS = 4
SLOW_SAID = "rank 1 computes more than 1.75 times as long as the others"
