"""Process 1 of the testbed's namespace: starts programs on request, leaves no zombies, and ends with its requests.

`python -m tests.slurm.testbed.init`. A request is a line of JSON {words, environment, log} on stdin; the answer is the
new process id on a line of stdout, as seen in here. When stdin is closed it ends, and the kernel ends all the others.
"""

import contextlib
import json
import os
import select
import signal
import sys
from typing import Any

SIGNALS = {signal.SIGPIPE, signal.SIGXFSZ}  # ignored by Python, and so by what it starts


def main() -> None:
    """Serve until stdin is closed."""
    children, wake = os.pipe()
    for end in (children, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    requests = sys.stdin.buffer
    while True:
        ready, _, _ = select.select([requests, children], [], [])
        if children in ready:
            os.read(children, 4096)
            reap()
        if requests in ready:
            line = requests.readline()
            if not line:
                return
            print(start(json.loads(line)), flush=True)


def start(request: dict[str, Any]) -> int:
    """Start one program in a session of its own."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        return os.posix_spawnp(
            request["words"][0],
            request["words"],
            request["environment"],
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setsid=True,
            setsigdef=SIGNALS | {signal.SIGINT, signal.SIGTERM, signal.SIGHUP},
        )
    finally:
        os.close(log)


def reap() -> None:
    """Collect every child that has ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    main()
