"""Tells the loop at once when a process ends, whoever started it."""

import asyncio
import contextlib
import os
from collections.abc import Callable

from hedgerow_operator.adapters.local.processes import Identity, is_alive


class ProcessWatch:
    """Calls back when a watched process has ended. Processes of a controller that was killed are watched too."""

    def __init__(self) -> None:
        self._descriptors: dict[Identity, int] = {}

    def add(self, target: Identity, ended: Callable[[], None]) -> None:
        """Watch a process; watching it already is fine."""
        if target in self._descriptors:
            return
        try:
            descriptor = os.pidfd_open(target.pid)
        except ProcessLookupError:
            return
        if not is_alive(target):
            os.close(descriptor)
            return
        self._descriptors[target] = descriptor
        asyncio.get_running_loop().add_reader(descriptor, self._ended, target, ended)

    def close(self) -> None:
        """Stop watching."""
        for descriptor in self._descriptors.values():
            with contextlib.suppress(RuntimeError):  # the loop is gone already
                asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)
        self._descriptors.clear()

    def _ended(self, target: Identity, ended: Callable[[], None]) -> None:
        descriptor = self._descriptors.pop(target)
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
        ended()
