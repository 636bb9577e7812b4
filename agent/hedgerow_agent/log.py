"""The agent's own lines: one for each noteworthy thing, on standard error."""

import contextlib
import os

PREFIX = "hedgerow-agent: "


def say(message: str) -> None:
    """Write one line. Nobody listening is no reason to stop looking."""
    with contextlib.suppress(OSError):
        os.write(2, (PREFIX + message + "\n").encode("utf-8", "replace"))
