"""Process 1 of a namespace: private folders, loopback, one command, and no zombies.

Started by path inside `unshare`, so it imports the standard library only:
`python init.py [--node FD] -- COMMAND`. It ends with its command and takes everything in the namespace along.
For a node it also covers the folders that daemons write to by fixed paths, and writes a byte to FD when it is up.
"""

import os
import signal
import subprocess
import sys

# Only for nodes: overlays can be stacked twice and no deeper.
COVERED = ("/var/lib", "/var/log")


def main(arguments: list[str]) -> int:
    """Set the namespace up, run the command and return its exit status (128 + n after signal n)."""
    options, command = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    if options:
        _cover()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as switch:
        switch.write("1")
    child = subprocess.Popen(command)
    # Ctrl-C is for the command; process 1 stays until the command has decided.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: child.send_signal(signal.SIGTERM))
    if options:
        os.write(int(options[1]), b"1")
        os.close(int(options[1]))
    return _reap_until_end_of(child.pid)


def _cover() -> None:
    for folder in COVERED:
        name = folder.strip("/").replace("/", "-")
        upper, work = f"/run/covered/{name}", f"/run/covered/{name}.work"
        os.makedirs(upper)
        os.makedirs(work)
        layers = f"lowerdir={folder},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "-o", layers, "overlay", folder], check=True)


def _reap_until_end_of(command: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
