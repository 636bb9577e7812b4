"""Which jobs have workers on which node, as the watch shows it."""

from __future__ import annotations

from hedgerow_operator.reconcile.ports import JobKey


class Residents:
    """Pods by node. Only used to look at a job sooner; decisions never rest on it."""

    def __init__(self) -> None:
        self._node_of: dict[tuple[JobKey, str], str] = {}

    def moved(self, key: JobKey, pod: str, node: str) -> None:
        """The pod of this job is on ``node`` now; empty: on none (any more)."""
        if node:
            self._node_of[key, pod] = node
        else:
            self._node_of.pop((key, pod), None)

    def on(self, node: str) -> tuple[JobKey, ...]:
        """The jobs with a worker on ``node``, in order."""
        return tuple(sorted({key for (key, _), place in self._node_of.items() if place == node}))
