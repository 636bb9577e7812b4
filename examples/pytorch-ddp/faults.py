"""The trouble of this example: a rank that hangs and a checkpoint that is half written, in the first attempt only.

HANG_RANK and HANG_STEP say who hangs where, TORN_STEP which checkpoint is torn; unset, nothing happens.
"""

import os
import threading

FIRST_ATTEMPT = os.environ.get("HEDGEROW_ATTEMPT", "1") == "1"


def hang(rank, step):
    """Wait for a lock that this very thread holds: the process lives, and never goes on."""
    if FIRST_ATTEMPT and os.environ.get("HANG_RANK") == str(rank) and os.environ.get("HANG_STEP") == str(step):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()


def tear(path, step):
    """Cut the file in half, as a full disk or a killed writer would leave it."""
    if FIRST_ATTEMPT and os.environ.get("TORN_STEP") == str(step):
        os.truncate(path, path.stat().st_size // 2)
