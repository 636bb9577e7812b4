"""Time from the verdict to all ranks of the next attempt started, in place, with a rank among them that ignores TERM.

Runs `hedgerow local` on ranks that really hang, and reads its objects as they come (-o json).
Run: python benchmarks/recovery.py [--quick]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RANKS = 4
AIM_SECONDS = 2.0

# Rank 0 ignores TERM; rank 1 hangs in every attempt but the last.
SCRIPT = """
import os, signal, sys, threading, time
import hedgerow

rank, attempt, last = int(os.environ["RANK"]), int(os.environ["HEDGEROW_ATTEMPT"]), int(sys.argv[1])
if rank == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
lock = threading.Lock()
for step in range(1, 41):
    if attempt < last and (step == 20 and rank == 1 or step == 21):
        lock.acquire()
        lock.acquire()
    time.sleep(0.02)
    hedgerow.beat(step=step)
"""


def manifest(folder: Path, recoveries: int) -> dict[str, Any]:
    """The job: as many attempts as it takes to recover that often."""
    command = [sys.executable, str(folder / "script.py"), str(recoveries + 1)]
    return {
        "apiVersion": "hedgerow.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "recovery"},
        "spec": {
            "workers": 1,
            "ranksPerWorker": RANKS,
            "local": {"command": command},
            "health": {"stall": {"minSeconds": 1}},
            "recovery": {"maxRestarts": 1000, "noProgressLimit": 1000, "backoff": {"initialSeconds": 0}},
        },
    }


def observed(folder: Path) -> Iterator[tuple[float, dict[str, Any]]]:
    """Each status of the job, with the moment when it was read."""
    command = [sys.executable, "-m", "hedgerow_operator.cli", "local", "-o", "json"]
    command += ["-f", str(folder / "job.yaml"), "--state-dir", str(folder / "state")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as controller:
        assert controller.stdout is not None
        for line in controller.stdout:
            yield time.monotonic(), json.loads(line).get("status", {})


def recovery_times(statuses: Iterator[tuple[float, dict[str, Any]]]) -> list[float]:
    """Seconds from each verdict until every launcher said that it had started the next attempt."""
    times: list[float] = []
    verdict: tuple[int, float] | None = None
    for moment, status in statuses:
        attempt, incident = status.get("attempt", 0), status.get("incident")
        if incident and incident["attempt"] == attempt and status["attemptStage"] == "Stopping" and verdict is None:
            verdict = (attempt, moment)
        elif verdict and attempt > verdict[0] and status["attemptStage"] == "Running":
            times.append(moment - verdict[1])
            verdict = None
            print(f"recovery {len(times)}: {times[-1]:.2f} s", flush=True)
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="at most 40 s")
    recoveries = 3 if parser.parse_args().quick else 12
    with tempfile.TemporaryDirectory(prefix="hedgerow-benchmark-") as name:
        folder = Path(name)
        (folder / "script.py").write_text(SCRIPT)
        (folder / "job.yaml").write_text(json.dumps(manifest(folder, recoveries)))
        times = recovery_times(observed(folder))
    if len(times) != recoveries:
        sys.exit(f"recovery: saw {len(times)} recoveries instead of {recoveries}")
    figures = {
        "recoveries": len(times),
        "median_seconds": round(statistics.median(times), 3),
        "worst_seconds": round(max(times), 3),
        "aim_seconds": AIM_SECONDS,
    }
    print(json.dumps({"name": "recovery", "figures": figures}))


if __name__ == "__main__":
    main()
