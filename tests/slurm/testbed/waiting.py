"""Wait for something to become true, with a deadline and a sentence."""

import time
from collections.abc import Callable
from typing import TypeVar

from tests.slurm.testbed.errors import TestbedError

Result = TypeVar("Result")
POLL_SECONDS = 0.05


def wait_for(what: str, probe: Callable[[], Result], timeout: float = 30) -> Result:
    """Call `probe` until it returns something true, and return that; TestbedError naming `what` after `timeout` s."""
    deadline = time.monotonic() + timeout
    while True:
        result = probe()
        if result:
            return result
        if time.monotonic() > deadline:
            raise TestbedError(f"Waited {timeout:g} s in vain for {what}; what was seen last: {result!r}")
        time.sleep(POLL_SECONDS)
