"""What a beat costs the training loop: with a launcher, without one, and with the launcher reading all the time; and
what the hooks cost that measure time in collectives.

Runs alone: ``python benchmarks/heartbeat.py [--quick]``. The last line is JSON with the figures, in microseconds.
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
sys.path.insert(0, str(AGENT))

from hedgerow import record  # noqa: E402

BEATS = """
import json, sys, time
from hedgerow import beat, communication
count, repeats = int(sys.argv[1]), int(sys.argv[2])
def loop_of_beats():
    began = time.perf_counter()
    for step in range(count):
        beat(step=step)
    return time.perf_counter() - began
def loop_of_repeats():
    began = time.perf_counter()
    for _ in range(count):
        beat(step=1)
    return time.perf_counter() - began
def loop_of_phases():
    began = time.perf_counter()
    for step in range(count // 2):
        beat(step=step)
        beat(phase="eval")
    return time.perf_counter() - began
def loop_of_values():
    began = time.perf_counter()
    for step in range(count):
        beat(step=step, loss=1.5, grad_norm=0.5)
    return time.perf_counter() - began
def loop_of_hooked_steps():
    began = time.perf_counter()
    for _ in range(count):
        communication.stepped()
    return time.perf_counter() - began
collective = communication._meter.timed(lambda: None)
def loop_of_timed_calls():
    began = time.perf_counter()
    for _ in range(count):
        collective()
    return time.perf_counter() - began
def empty_loop():
    began = time.perf_counter()
    for _ in range(count):
        pass
    return time.perf_counter() - began
print(json.dumps([
    max(0.0, min(loop() for _ in range(repeats)) - min(empty_loop() for _ in range(repeats))) / count * 1e6
    for loop in (
        loop_of_beats, loop_of_repeats, loop_of_phases, loop_of_values, loop_of_hooked_steps, loop_of_timed_calls
    )
]))
"""


def measure(count: int, repeats: int, heartbeat: str | None, read: bool = False) -> list[float]:
    """Microseconds a call in a fresh process: new steps, a repeated step, steps and phases in turn, steps with two
    values, the hook of an optimizer step, the hook of a collective.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEDGEROW")}
    environment["PYTHONPATH"] = str(AGENT)
    if heartbeat is not None:
        environment["HEDGEROW_HEARTBEAT"] = heartbeat
    command = [sys.executable, "-c", BEATS, str(count), str(repeats)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        if read and heartbeat is not None:
            read_until_done(process, heartbeat)
        assert process.stdout is not None
        figures: list[float] = json.loads(process.stdout.read())
    return figures


def read_until_done(process: subprocess.Popen[bytes], heartbeat: str) -> None:
    """As the launcher does, four times a second."""
    buffer = record.open_for_reading(heartbeat)
    seen = 0
    while process.poll() is None:
        seen = record.read(buffer, seen).total
        time.sleep(0.25)


def main() -> None:
    count, repeats = (200_000, 5) if "--quick" in sys.argv else (2_000_000, 7)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "heartbeat")
        record.create(path)
        beat, repeated, phases, valued, step_hook, call_hook = measure(count, repeats, path)
        record.create(path)
        watched = measure(count, repeats, path, read=True)[0]
    noop = measure(count, repeats, None)[0]
    figures = {
        "beat_microseconds": beat,
        "beat_while_read_microseconds": watched,
        "phase_microseconds": phases,
        "repeated_microseconds": repeated,
        "beat_with_two_values_microseconds": valued,
        "step_hook_microseconds": step_hook,
        "collective_hook_microseconds": call_hook,
        "noop_microseconds": noop,
    }
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):32} {value:8.3f}")
    print(json.dumps({"name": "heartbeat", "figures": {name: round(value, 3) for name, value in figures.items()}}))


if __name__ == "__main__":
    main()
