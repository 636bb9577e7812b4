"""Standard output that somebody may stop reading."""

import os
import sys


def write(text: str) -> None:
    """Write at once. When the reader is gone (hedgerow local | head) the run goes on unseen."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
