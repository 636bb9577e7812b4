"""Holds the testbed's namespace and removes its folder afterwards: `python -m tests.slurm.testbed.keeper FOLDER`.

Its stdin and stdout are those of process 1 inside (`init.py`), which ends when the test run is gone, killed or not.
"""

import shutil
import signal
import subprocess
import sys

from tests.slurm.testbed import init
from tests.slurm.testbed.requirements import NAMESPACE


def main(folder: str) -> None:
    """Start process 1, wait for its end, clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    inside = subprocess.Popen([*NAMESPACE, sys.executable, "-m", init.__name__])
    inside.wait()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
