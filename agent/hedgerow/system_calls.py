"""The two calls of prctl(2) that keep hold of processes: orphans come to us, and ranks die with us."""

from __future__ import annotations

import os
import signal
from typing import Any, Callable, Optional

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _load_prctl() -> Optional[Any]:
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, OSError, AttributeError):
        return None


def adopt_orphans() -> bool:
    """Make orphaned descendants children of this process, so that none can hide; False where that is impossible."""
    prctl = _load_prctl()
    return os.getpid() == 1 or (prctl is not None and prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def die_with_parent() -> Optional[Callable[[], None]]:
    """What a child is to run between fork and exec so that it gets SIGKILL when the forking thread ends."""
    prctl = _load_prctl()
    if prctl is None:
        return None
    parent = os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        # The parent may have died before the call.
        if os.getppid() != parent:
            os._exit(1)

    return tie
