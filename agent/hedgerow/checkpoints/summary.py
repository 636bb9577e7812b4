"""One look at a checkpoint directory, and how to tell a person about it."""

from __future__ import annotations

from typing import List

from hedgerow.checkpoints.reader import Reader
from hedgerow.options import VERIFY_CONTENT
from hedgerow.wire import CheckpointScan


def scan(directory: str, verify: str = VERIFY_CONTENT, quiet: bool = True) -> CheckpointScan:
    """The newest candidates in ``directory``, newest first. verify: Content, Size or Markers."""
    return Reader(directory, verify).scan(quiet)


def describe(found: CheckpointScan) -> List[str]:
    """One line a candidate: step, validity, layout, path, and why it is not complete."""
    if found.error is not None:
        return ["cannot be looked at: %s" % found.error]
    if not found.candidates:
        return ["no checkpoints"]
    return [
        "step %d  %s  %s  %s%s" % (c.step, c.validity, c.layout, c.path, "  (%s)" % c.reason if c.reason else "")
        for c in found.candidates
    ]
