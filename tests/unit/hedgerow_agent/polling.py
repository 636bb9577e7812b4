"""Waiting in tests: until something holds, or a deadline is over."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
SECONDS = 60.0


def until(look: Callable[[], Found], seconds: float = SECONDS) -> Found:
    """What ``look`` finds, once it finds something."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"nothing in {seconds} s"
        time.sleep(0.02)
    return found
