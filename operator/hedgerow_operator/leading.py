"""What the process knows of its own leading: since when, and whether reports can be answered already."""

from __future__ import annotations

import time

from hedgerow_operator.reconcile.ports import Leadership


class Leading:
    """Implements ports.Leadership for the report server: a standby, and a leader that has not looked at every job
    yet, refuses reports with "try again"; it would call the jobs that it has not seen unknown."""

    def __init__(self, lease: Leadership) -> None:
        self._lease = lease
        self._since: float | None = None
        self.acquainted = False

    def begin(self) -> None:
        """The lease is ours from now on."""
        self._since = time.monotonic()

    def seconds(self) -> float:
        """How long this process has led; stands at 0 before. Only from then on could it hear anybody."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def holds(self) -> bool:
        return self.acquainted and self._lease.holds()
