"""Lines that say what is being made, so that a first run of ten minutes never looks stuck."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def say(text: str) -> None:
    """Print one line on standard error."""
    print(f"testbed: {text}", file=sys.stderr, flush=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say that `what` begins, and how long it took."""
    say(f"{what} ...")
    started = time.monotonic()
    yield
    say(f"{what}: done in {time.monotonic() - started:.0f} s")
