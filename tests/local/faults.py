"""The faults of fault_script.py, and how a job that suffers one is expected to end; whoever runs the ranks."""

from pathlib import Path

from hedgerow_operator.api import reasons

SCRIPT = Path(__file__).with_name("fault_script.py")
# The last checkpoint before the fault, and the last step of the training.
RESUMED, LAST = 20, 40
# Rank 1 suffers; what the history says of the attempt: reason, guilty ranks, class, words of the message.
HEALED: dict[str, tuple[str, tuple[int, ...], str, str]] = {
    "lock": (reasons.NO_PROGRESS, (1,), "Unknown", "rank 1 never reached step 23"),
    "loop": (reasons.NO_PROGRESS, (1,), "Unknown", "rank 1 never reached step 23"),
    "pipe": (reasons.NO_PROGRESS, (1,), "Unknown", "rank 1 never reached step 23"),
    "stop": (reasons.RANK_STOPPED, (1,), "Unknown", "is stopped by a signal or debugger"),
    "kill": (reasons.RANK_EXITED, (1,), "Unknown", "rank 1 exited by signal 9 at step 22"),
    "memory": (reasons.RANK_EXITED, (1,), "Application", "MemoryError"),
    "storage": (reasons.RANK_EXITED, (1,), "Storage", "No such file or directory"),
}
EVERYWHERE = "everywhere"
EVERYWHERE_SAID = "no such column: price"
# Four ranks, of which most steps wait for nobody: so each is seen to be as fast as it is.
SLOW = {"FAULTY_STEP": "3", "WORK_SECONDS": "0.02", "STEP_SECONDS": "0.2", "REDUCE_EVERY": "3", "STEPS": "100000"}
SLOW_RANKS = 4
SLOW_SAID = "rank 1 computes more than 1.75 times as long as the others"
