"""Plays the part of torchrun: starts the ranks of a worker, each in a session of its own, and ends them with the first.

Its options come before the PET_* variables, as torchrun's do. Called with a script and what follows it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time


def setting(name: str, default: str) -> int:
    """An option, else the variable, else the default."""
    given = [word.split("=")[1] for word in sys.argv if word.startswith(f"--{name}=")]
    return int(given[0] if given else os.environ.get(f"PET_{name.upper()}", default))


def main() -> int:
    """The exit code: 1 as soon as a rank has failed."""
    script = [word for word in sys.argv[1:] if not word.startswith("--")]
    workers, worker, count = setting("nnodes", "1"), setting("node_rank", "0"), setting("nproc_per_node", "1")
    ranks = []
    for local in range(count):
        place = {
            "RANK": worker * count + local,
            "LOCAL_RANK": local,
            "WORLD_SIZE": workers * count,
            "LOCAL_WORLD_SIZE": count,
            "GROUP_RANK": worker,
            "TORCHELASTIC_RUN_ID": "none",
        }
        variables = {**os.environ, **{name: str(value) for name, value in place.items()}}
        ranks.append(subprocess.Popen([sys.executable, *script], env=variables, start_new_session=True))
    while True:
        codes = [rank.poll() for rank in ranks]
        if any(codes):
            for rank in ranks:
                rank.terminate()
            for rank in ranks:
                rank.wait()
            print("ChildFailedError: a rank failed", file=sys.stderr)
            return 1
        if None not in codes:
            return 0
        time.sleep(0.1)


sys.exit(main())
