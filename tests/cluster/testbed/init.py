"""Process 1 of a namespace: a private /run, loopback, one command, and no zombies.

`python -m tests.cluster.testbed.init -- COMMAND`, inside `unshare`. It ends with its command and takes everything in
the namespace along.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def main(command: Sequence[str], prepare: Callable[[], None] = lambda: None) -> int:
    """Set the namespace up, run the command and return its exit status (128 + n after signal n)."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    prepare()
    child = subprocess.Popen(command)
    # Ctrl-C is for the command; process 1 stays until the command has decided.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
    return _reap_until_end_of(child.pid)


def _reap_until_end_of(command: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[sys.argv.index("--") + 1 :]))
