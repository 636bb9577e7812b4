"""Slurm: time from the verdict to the ranks of the next batch job, by its parts; and how often Slurm is asked.

The first part runs `hedgerow local` on a real Slurm of four nodes that it starts itself, which takes root and Debian's
packages (it says which are missing); the second one asks a pretended one for 500 jobs at their own pace.
Run: python benchmarks/slurm.py [--quick]
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hedgerow_operator.adapters.slurm.cluster_view import ClusterView
from hedgerow_operator.adapters.slurm.runtime import SlurmRuntime
from tests.slurm.testbed import requirements
from tests.slurm.testbed.testbed import Testbed
from tests.unit.core.builders import make_job
from tests.unit.slurm.pretended_cluster import Papers, PretendedSlurm

PARTS = ("cancel", "confirm", "submit", "schedule", "start")
JOBS = 500
LOOK_SECONDS = 0.1

# The last rank hangs in every attempt but the last one; nothing is ever saved, so only the first try is in place.
SCRIPT = """
import os, sys, threading, time
import hedgerow

rank, attempt, last = int(os.environ["RANK"]), int(os.environ["HEDGEROW_ATTEMPT"]), int(sys.argv[1])
lock = threading.Lock()
for step in range(1, 41):
    if attempt < last and (step == 20 and rank == 2 or step == 21):
        lock.acquire()
        lock.acquire()
    time.sleep(0.02)
    hedgerow.beat(step=step)
"""


def manifest(folder: Path, attempts: int) -> dict[str, Any]:
    """A job on three of the four nodes."""
    return {
        "apiVersion": "hedgerow.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "recovery"},
        "spec": {
            "workers": 3,
            "ranksPerWorker": 1,
            "slurm": {"script": f"exec {sys.executable} {folder / 'script.py'} {attempts}\n"},
            "checkpoint": {"directory": str(folder / "checkpoints")},
            "health": {"stall": {"minSeconds": 1}},
            "recovery": {"maxRestarts": 100, "noProgressLimit": 100, "exclude": {"maxNodes": 0},
                         "backoff": {"initialSeconds": 0}},
        },
    }  # fmt: skip


class Starts:
    """When each Slurm job was first seen, and first seen to run."""

    def __init__(self, testbed: Testbed) -> None:
        self.seen: dict[str, float] = {}
        self.running: dict[str, float] = {}
        self._testbed, self._ended = testbed, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End looking."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            for line in self._testbed.run("squeue --noheader '--format=%i %T'", check=False).splitlines():
                job, state = line.split()
                self.seen.setdefault(job, time.monotonic())
                if state == "RUNNING":
                    self.running.setdefault(job, time.monotonic())


def observed(testbed: Testbed, folder: Path) -> Iterator[tuple[float, dict[str, Any]]]:
    """Each status of the job, with the moment when it was read."""
    command = [sys.executable, "-m", "hedgerow_operator.cli", "local", "-o", "json"]
    command += ["-f", str(folder / "job.yaml"), "--state-dir", str(folder / "state")]
    variables = {**os.environ, **testbed.environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables) as controller:
        assert controller.stdout is not None
        for line in controller.stdout:
            yield time.monotonic(), json.loads(line).get("status", {})


def recoveries(statuses: Iterator[tuple[float, dict[str, Any]]], starts: Starts) -> Iterator[dict[str, float]]:
    """The parts of every recovery by a new batch job, in seconds."""
    moments: dict[str, float] = {}
    for moment, status in statuses:
        stage, number = status.get("attemptStage"), status.get("slurm", {}).get("jobID", "")
        if stage in ("Stopping", "Removing", "Placing"):
            moments.setdefault(stage, moment)
        if stage == "Running" and "Removing" in moments:
            known, runs = starts.seen.get(number, moment), starts.running.get(number, moment)
            points = [moments["Stopping"], moments["Removing"], moments["Placing"], known, runs, moment]
            yield {part: points[index + 1] - points[index] for index, part in enumerate(PARTS)}
        if stage == "Running":
            moments = {}


def measured_recoveries(count: int) -> dict[str, Any]:
    """Figures of so many recoveries; a sentence instead of them where there can be no Slurm."""
    sentence = requirements.missing()
    if sentence:
        print(sentence)
        return {}
    testbed = Testbed.start()
    starts = Starts(testbed)
    try:
        with tempfile.TemporaryDirectory(prefix="hedgerow-benchmark-") as name:
            folder = Path(name)
            (folder / "script.py").write_text(SCRIPT)
            (folder / "job.yaml").write_text(json.dumps(manifest(folder, count + 2)))
            found = []
            for parts in recoveries(observed(testbed, folder), starts):
                found.append(parts)
                print(", ".join(f"{part} {seconds:.2f} s" for part, seconds in parts.items()), flush=True)
    finally:
        starts.stop()
        testbed.close()
    if len(found) != count:
        sys.exit(f"slurm: saw {len(found)} recoveries instead of {count}")
    medians = {f"{part}_seconds": round(statistics.median(parts[part] for parts in found), 2) for part in PARTS}
    return {"recoveries": count, **medians, "median_seconds": round(statistics.median(map(total, found)), 2)}


def total(parts: dict[str, float]) -> float:
    """From the verdict to the ranks."""
    return sum(parts.values())


async def calls_a_minute() -> dict[str, Any]:
    """How often a pretended Slurm is asked while 500 running jobs are looked at, each every 5 s, for a minute."""
    slurm = PretendedSlurm()
    view = ClusterView(slurm, lambda: slurm.now)
    runtime = SlurmRuntime(view, Papers(), slurm.wall, stopwatch=lambda: slurm.now)
    job = make_job({"local": None, "slurm": {"script": "train"}})
    jobs = [
        type(job)(
            metadata=type(job.metadata)(name=f"job-{number}", namespace="ml", uid=f"uid-{number}"),
            spec=job.spec,
        )
        for number in range(JOBS)
    ]
    for entry in jobs:
        slurm.starts(slurm.was_submitted(comment=f"hedgerow:{entry.metadata.uid}:1"), "n1")
    began = time.monotonic()
    for _ in range(12):
        for entry in jobs:
            await runtime.placements(entry)
            slurm.now += 5.0 / JOBS
    return {
        "jobs": JOBS,
        "job_lists_a_minute": slurm.calls.count("jobs"),
        "node_lists_a_minute": slurm.calls.count("nodes"),
        "other_calls_a_minute": len([call for call in slurm.calls if call not in ("jobs", "nodes")]),
        "cpu_percent_of_one": round(100 * (time.monotonic() - began) / 60, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="at most 40 s")
    figures = asyncio.run(calls_a_minute())
    figures |= measured_recoveries(1 if parser.parse_args().quick else 5)
    print(json.dumps({"name": "slurm", "figures": figures}))


if __name__ == "__main__":
    main()
