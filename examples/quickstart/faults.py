"""The two faults of this example. They are the script's own: Hedgerow knows nothing of them."""

import os

# Which rank hangs, where, and in which attempt; HANG_RANK=-1 turns it off.
HANG_RANK = int(os.environ.get("HANG_RANK", "2"))
HANG_STEP = int(os.environ.get("HANG_STEP", "37"))
FAULTY_ATTEMPT = int(os.environ.get("FAULTY_ATTEMPT", "1"))
# The checkpoint of this step is left half written; -1 turns it off.
TORN_STEP = int(os.environ.get("TORN_STEP", "30"))


def hangs(rank, attempt, step):
    """Whether the loader of this rank gets stuck at this step; says so, so that a reader can time what follows."""
    if rank != HANG_RANK or attempt != FAULTY_ATTEMPT or step != HANG_STEP:
        return False
    print(f"fault: rank {rank} hangs at step {step}", flush=True)
    return True


def tears(attempt, step):
    """Whether the checkpoint of this step is left half written."""
    return attempt == FAULTY_ATTEMPT and step == TORN_STEP
