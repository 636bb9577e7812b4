"""The launcher's own lines: one for each noteworthy thing, on standard error."""

from __future__ import annotations

import os

from hedgerow import environment
from hedgerow.logs.launcher_lines import PREFIX


def say(message: str) -> None:
    """Write one line. Nobody listening is no reason to stop training."""
    try:
        os.write(2, (PREFIX + message + "\n").encode("utf-8", "replace"))
    except OSError:
        pass


def tell(message: str) -> None:
    """Write a line about what happens in every run, unless whoever reads the output wants the ranks' alone."""
    if not os.environ.get(environment.QUIET):
        say(message)
