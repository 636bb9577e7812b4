"""How processes end that are not our children: seen the moment they end, before their parent asks for their status.

Ranks announce themselves here as they begin, so that also those are seen that end at once.
"""

from __future__ import annotations

import collections
import os
import selectors
import threading
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Set, Tuple

from hedgerow import kernel, machine

# From Python 3.9 and Linux 5.3 on; elsewhere ends are seen at the next look at all processes.
_open: Any = getattr(os, "pidfd_open", None)
# Far more than there are ranks at a worker.
_MOST_ANNOUNCED = 4096
_CLOSE = b"close"


class End(NamedTuple):
    """When it ended (CLOCK_BOOTTIME), and the status of wait(2); None: its parent was faster."""

    at: float
    status: Optional[int]


class ExitWatch(threading.Thread):
    """Waits for processes to end, on a thread of its own, because their parents may ask at any moment."""

    def __init__(self) -> None:
        super().__init__(name="exits", daemon=True)
        self._selector = selectors.DefaultSelector()
        self._announced: Deque[Tuple[int, kernel.Process]] = collections.deque(maxlen=_MOST_ANNOUNCED)
        self._ends: Dict[Tuple[int, int], End] = {}
        self._watched: Set[Tuple[int, int]] = set()
        self._wake_read, self._wake_write = os.pipe()
        self._selector.register(self._wake_read, selectors.EVENT_READ)

    @property
    def announcements(self) -> int:
        """The descriptor to which a rank writes its number and its process, as one line."""
        return self._wake_write

    def announced(self) -> List[Tuple[int, kernel.Process]]:
        """The ranks below this process that have announced themselves since the last call."""
        return [self._announced.popleft() for _ in range(len(self._announced))]

    def add(self, target: kernel.Process) -> None:
        """Wait for this one too."""
        if (target.pid, target.start) in self._watched:
            # A second look at its status may come after its parent's, and would know nothing.
            return
        try:
            descriptor = _open(target.pid) if _open is not None else None
        except OSError:
            return
        if descriptor is None:
            return
        if not kernel.is_same(target, kernel.process(target.pid)):
            os.close(descriptor)
            return
        self._watched.add((target.pid, target.start))
        # The thread that waits takes it in at its next turn, which is at once where epoll is used.
        self._selector.register(descriptor, selectors.EVENT_READ, target)
        os.write(self._wake_write, b"\n")

    def ended(self, target: kernel.Process) -> Optional[End]:
        """How it ended; None while it lives, or when that was not seen."""
        return self._ends.get((target.pid, target.start))

    def close(self) -> None:
        """Wait for nothing more."""
        os.write(self._wake_write, _CLOSE + b"\n")

    def run(self) -> None:
        """Wait until closed."""
        while True:
            for key, _events in self._selector.select():
                if key.data is None:
                    if self._hear(os.read(self._wake_read, 4096)):
                        self._let_go()
                        return
                    continue
                target = key.data
                self._ends[(target.pid, target.start)] = End(machine.boottime(), kernel.exit_status(target))
                self._selector.unregister(key.fd)
                os.close(key.fd)

    def _hear(self, data: bytes) -> bool:
        """Take in whole lines; whether to end. A line is written at once, so that none is torn."""
        for words in (line.split() for line in data.splitlines()):
            if words == [_CLOSE]:
                return True
            if len(words) == 2 and all(word.isdigit() and len(word) < 10 for word in words):
                target = kernel.process(int(words[1]))
                # A number from another PID namespace may be anybody's here.
                if target is not None and target.alive and kernel.is_below(target, os.getpid()):
                    self.add(target)
                    self._announced.append((int(words[0]), target))
        return False

    def _let_go(self) -> None:
        for key in list(self._selector.get_map().values()):
            os.close(key.fd)
        os.close(self._wake_write)
        self._selector.close()
