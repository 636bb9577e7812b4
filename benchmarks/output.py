"""How fast the launcher passes on what ranks print while it reads it for progress, and with the log left unread.

Runs alone: ``python benchmarks/output.py [--quick]``. The last line is JSON with the figures: megabytes a second.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AGENT = Path(__file__).resolve().parent.parent / "agent"
ORDINARY = "INFO 2024-01-01 some.module: this is an ordinary line of output that says nothing of steps"
PROGRESS = (
    " iteration       42/  100000 | consumed samples:        10752 | elapsed time per iteration (ms): 512.3 | "
    "learning rate: 1.500E-04 | global batch size:   256 | lm loss: 3.141592E+00 | grad norm: 0.321 |"
)


def measure(line: str, ranks: int, source: str, megabytes: int) -> float:
    """Megabytes a second through a launcher whose ranks print ``line`` as fast as they can."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEDGEROW")}
    environment.update(PYTHONPATH=str(AGENT), HEDGEROW_HEARTBEAT_SOURCE=source, HEDGEROW_NPROC=str(ranks))
    # A pipe at the other end, as a container runtime has one.
    flood = f"yes '{line}' | head -c {megabytes * 1_000_000 // ranks}"
    with tempfile.TemporaryDirectory() as folder:
        environment["HEDGEROW_TMP"] = folder
        command = [sys.executable, "-m", "hedgerow", "run", "--", "sh", "-c", flood]
        began = time.perf_counter()
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        ) as run:
            assert run.stdout is not None
            passed = 0
            while data := run.stdout.read(1 << 20):
                passed += len(data)
        seconds = time.perf_counter() - began
    if passed < megabytes * 1_000_000 * 0.999:
        raise SystemExit(f"only {passed} bytes of {megabytes} MB came through")
    return passed / 1e6 / seconds


def main() -> None:
    megabytes = 300 if "--quick" in sys.argv else 2000
    cases = {
        "unread": (ORDINARY, 1, "Library"),
        "ordinary_lines": (ORDINARY, 1, "Auto"),
        "progress_lines": (PROGRESS, 1, "Auto"),
        "progress_lines_of_8_ranks": (PROGRESS, 8, "Auto"),
    }
    figures = {}
    for name, (line, ranks, source) in cases.items():
        figures[f"{name}_megabytes_per_second"] = round(measure(line, ranks, source, megabytes), 1)
        print(f"{name.replace('_', ' '):32} {figures[f'{name}_megabytes_per_second']:8.1f} MB/s")
    print(json.dumps({"name": "output", "figures": figures}))


if __name__ == "__main__":
    main()
