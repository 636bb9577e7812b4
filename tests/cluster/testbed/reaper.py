"""Clean up after a run, however it ended: `python -m tests.cluster.testbed.reaper PIPE FOLDER`.

Waits until the other end of the pipe is closed, which the kernel does also after kill -9 of the run.
"""

import os
import signal
import sys
from pathlib import Path

from tests.cluster.testbed import runs


def main(pipe: int, folder: Path) -> None:
    """Wait for the end of the run in `folder`, then remove what it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(pipe, 1):
        pass
    runs.remove(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
