"""Folds samples of a rank's process tree into evidence: how long it has used no CPU and moved no bytes."""

from __future__ import annotations

import collections
from typing import Deque, Dict, NamedTuple, Optional, Tuple

from hedgerow import kernel
from hedgerow.wire import Activity

# Below this share of one core, over the window, a process tree counts as idle: a poll loop or a metrics thread
# of a stuck rank stays under it, any computing is far above.
IDLE_SHARE = 0.02
WINDOW_SECONDS = 2.0


class Sample(NamedTuple):
    """One look at a rank's process tree. ``bytes_moved`` leaves out what our own stack samples made it write."""

    at: float
    state: Optional[str]
    wait_channel: Optional[str]
    cpu_seconds: Optional[float]
    bytes_moved: Optional[int]


class ActivityFold:
    """The samples of one rank in one attempt."""

    def __init__(self) -> None:
        self.state: Optional[str] = None
        self._newest: Optional[Sample] = None
        self._window: Deque[Tuple[float, float]] = collections.deque()
        self._busy_at: Optional[float] = None
        self._share: Optional[float] = None
        self._bytes: Optional[int] = None
        self._moved_at: Optional[float] = None

    def add(self, sample: Sample) -> bool:
        """Take one sample in; True when the process state became, or ceased to be, one that is unusual."""
        changed = _unusual(sample.state) != _unusual(self.state)
        self.state = sample.state
        self._newest = sample
        self._add_cpu(sample)
        self._add_bytes(sample)
        return changed

    def activity(self, now: float, stack_unchanged: Optional[float]) -> Activity:
        """What the report says; ``now`` is on the clock of the samples."""
        if self._newest is None:
            return Activity(stack_unchanged_seconds=stack_unchanged)
        return Activity(
            process_state=self._newest.state,
            wait_channel=self._newest.wait_channel,
            cpu_seconds=self._newest.cpu_seconds,
            cpu_share=self._share,
            idle_seconds=None if self._busy_at is None else max(0.0, now - self._busy_at),
            io_idle_seconds=None if self._moved_at is None else max(0.0, now - self._moved_at),
            stack_unchanged_seconds=stack_unchanged,
        )

    def _add_cpu(self, sample: Sample) -> None:
        if sample.cpu_seconds is None:
            self._window.clear()
            self._busy_at = self._share = None
            return
        self._window.append((sample.at, sample.cpu_seconds))
        while len(self._window) > 2 and self._window[1][0] <= sample.at - WINDOW_SECONDS:
            self._window.popleft()
        since, before = self._window[0]
        span = sample.at - since
        if span < WINDOW_SECONDS:
            return
        # Children that ended as orphans take their time with them: less than before is not idle.
        used = sample.cpu_seconds - before
        self._share = None if used < 0 else used / span
        if used < 0 or used >= IDLE_SHARE * span or self._busy_at is None:
            self._busy_at = sample.at if used < 0 or used >= IDLE_SHARE * span else since

    def _add_bytes(self, sample: Sample) -> None:
        if sample.bytes_moved is None:
            self._bytes = self._moved_at = None
        elif self._bytes != sample.bytes_moved:
            self._bytes = sample.bytes_moved
            self._moved_at = sample.at


def take_sample(pid: int, root: int, table: Dict[int, kernel.Process], at: float, own_bytes: int) -> Sample:
    """Look at the rank ``pid`` and at the tree under ``root``. own_bytes: written for our stack samples so far."""
    members = kernel.tree(root, table)
    rank = table.get(pid)
    moved = [kernel.bytes_moved(member.pid) for member in members if member.alive]
    known = [value for value in moved if value is not None]
    return Sample(
        at=at,
        state=rank.state if rank else None,
        wait_channel=kernel.wait_channel(pid) if rank else None,
        cpu_seconds=sum(member.cpu_seconds for member in members) if members else None,
        bytes_moved=sum(known) - own_bytes if known else None,
    )


def _unusual(state: Optional[str]) -> Optional[str]:
    # D comes and goes with every disk access, so it is no event.
    return state if state in ("T", "t", "Z") else None
