"""Wait for something to become true, with a deadline and a sentence."""

import time
from collections.abc import Callable
from typing import TypeVar

from tests.cluster.testbed.errors import ClusterError

Result = TypeVar("Result")
POLL_SECONDS = 0.2


def wait_for(what: str, probe: Callable[[], Result], timeout: float = 30) -> Result:
    """Call `probe` until it returns something true, and return that; ClusterError naming `what` after `timeout` s."""
    deadline = time.monotonic() + timeout
    while True:
        result = probe()
        if result:
            return result
        if time.monotonic() > deadline:
            raise ClusterError(f"Waited {timeout:g} s in vain for {what}; what was seen last: {result!r}")
        time.sleep(POLL_SECONDS)
