"""Signals that reach the process they are meant for, and never one that was given its number later."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import Any

from hedgerow import kernel

# From Python 3.9 and Linux 5.3 on.
_open: Any = getattr(os, "pidfd_open", None)
_send: Any = getattr(signal, "pidfd_send_signal", None)


def signal_process(target: kernel.Process, number: int) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(OSError):
        descriptor = _descriptor(target.pid)
        try:
            if not kernel.is_same(target, kernel.process(target.pid)):
                return
            if descriptor is None:
                os.kill(target.pid, number)
            else:
                _send(descriptor, number)
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _descriptor(pid: int) -> Any:
    """What holds on to the process; None where the kernel has no such thing."""
    if _open is None or _send is None:
        return None
    try:
        return _open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        return None
