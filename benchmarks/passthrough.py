"""What it costs to have output passed on and read for progress: throughput, latency and processor time.

Each figure stands beside that of a bare pipe, measured in turns, since a machine is not equally busy all the time.
Runs alone: ``python benchmarks/passthrough.py [--quick]``. The last line is JSON with the figures.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

AGENT = Path(__file__).resolve().parent.parent / "agent"
ORDINARY = "INFO 2024-01-01 some.module: this is an ordinary line of output that says nothing of steps"
PROGRESS = (
    " iteration       42/  100000 | consumed samples:        10752 | elapsed time per iteration (ms): 512.3 | "
    "learning rate: 1.500E-04 | global batch size:   256 | lm loss: 3.141592E+00 | grad norm: 0.321 |"
)
FLOODS = {
    "unread": (ORDINARY, 1, "Library"),
    "ordinary_lines": (ORDINARY, 1, "Auto"),
    "progress_lines": (PROGRESS, 1, "Auto"),
    "progress_lines_of_8_ranks": (PROGRESS, 8, "Auto"),
}
# Prints its own clock (the same for all processes), then a line like a trainer's.
CLOCK = """
import os, sys, time
due = time.monotonic()
while time.monotonic() < due + float(sys.argv[2]):
    os.write(1, b"%d iteration 42/ 100000 | lm loss: 3.14E+00 |\\n" % time.monotonic_ns())
    time.sleep(float(sys.argv[1]))
"""
MEBIBYTE = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def started(command: list[str], launched: bool, ranks: int, source: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command, by itself or by a launcher, with a pipe at its end as a container runtime has one."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HEDGEROW")}
    variables.update(PYTHONPATH=str(AGENT), HEDGEROW_HEARTBEAT_SOURCE=source, HEDGEROW_NPROC=str(ranks))
    with tempfile.TemporaryDirectory() as folder:
        variables["HEDGEROW_TMP"] = folder
        launcher = [sys.executable, "-m", "hedgerow", "run", "--"] if launched else []
        with subprocess.Popen(
            [*launcher, *command], env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        ) as run:
            yield run


def flood(line: str, ranks: int, source: str, megabytes: int, launched: bool) -> tuple[float, float]:
    """Megabytes a second, from the first byte to the last, of ranks that print ``line`` as fast as they can; and the
    milliseconds of processor time for each megabyte that the launcher itself takes, or the one command.
    """
    with tempfile.NamedTemporaryFile() as file:
        amount = MEBIBYTE // (len(line) + 1)
        for _ in range(max(1, megabytes // ranks)):
            file.write(f"{line}\n".encode() * amount)
        file.flush()
        expected = os.path.getsize(file.name) * ranks
        alone = ["sh", "-c", f"for rank in $(seq {ranks}); do cat {file.name} & done; wait"]
        with started(["cat", file.name] if launched else alone, launched, ranks, source) as run:
            assert run.stdout is not None
            passed = len(run.stdout.read(1))
            began, before, used = time.perf_counter(), _ticks(run.pid), 0
            while data := run.stdout.read(MEBIBYTE):
                passed += len(data)
                if passed < expected:
                    used = _ticks(run.pid) - before
            seconds = time.perf_counter() - began
    if passed != expected:
        raise SystemExit(f"only {passed} of {expected} bytes came through")
    return passed / 1e6 / seconds, 1000 * used / TICKS / (passed / 1e6)


def latencies(launched: bool, seconds: float) -> list[float]:
    """Milliseconds from when a line is written to when it is read, in order of length."""
    found = []
    with started([sys.executable, "-c", CLOCK, "0.005", str(seconds)], launched, 1, "Auto") as run:
        assert run.stdout is not None
        for line in run.stdout:
            found.append((time.monotonic_ns() - int(line.split()[0])) / 1e6)
    return sorted(found)


def processor_share(pause: float, seconds: float) -> tuple[float, float]:
    """Percent of one core that the launcher itself takes, and the lines a second that it passed on meanwhile."""
    with started([sys.executable, "-c", CLOCK, str(pause), str(seconds + 60)], True, 1, "Auto") as run:
        assert run.stdout is not None
        run.stdout.readline()
        began, before, lines = time.monotonic(), _ticks(run.pid), 0
        while time.monotonic() < began + seconds:
            lines += run.stdout.read(MEBIBYTE).count(b"\n")
        passed = time.monotonic() - began
        used = _ticks(run.pid) - before
        run.terminate()
        run.stdout.read()
    return 100.0 * used / TICKS / passed, lines / passed


def _ticks(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return sum(int(field) for field in stat[stat.rindex(")") + 2 :].split()[11:13])


def main() -> None:
    quick = "--quick" in sys.argv
    figures = {}
    for name, (line, ranks, source) in FLOODS.items():
        megabytes, turns = (60, 3) if quick else (500, 7)
        pairs = [[flood(line, ranks, source, megabytes, launched) for launched in (True, False)] for _ in range(turns)]
        (passed_on, cost), (alone, _cost) = (
            (statistics.median(rate for rate, _ in of), statistics.median(cost for _, cost in of))
            for of in zip(*pairs, strict=True)
        )
        figures[f"{name}_megabytes_per_second"] = round(passed_on, 1)
        figures[f"{name}_of_a_bare_pipe"] = round(passed_on / alone, 3)
        figures[f"{name}_processor_milliseconds_per_megabyte"] = round(cost, 2)
        print(
            f"{name.replace('_', ' '):28} {passed_on:8.1f} MB/s, a bare pipe {alone:8.1f} MB/s; "
            f"{cost:.2f} ms of processor time for a megabyte"
        )
    seconds = 2.0 if quick else 20.0
    bare, passed = latencies(False, seconds), latencies(True, seconds)
    for name, share in (("median", 0.5), ("p99", 0.99)):
        times = [entry[int(len(entry) * share)] for entry in (passed, bare)]
        figures[f"latency_{name}_milliseconds"] = round(times[0], 3)
        figures[f"latency_{name}_of_a_bare_pipe"] = round(times[0] / times[1], 1)
        print(f"latency, {name:19} {times[0]:8.3f} ms, a bare pipe {times[1]:8.3f} ms")
    calm, _none = processor_share(1.0, seconds)
    busy, lines = processor_share(0.0009, seconds)
    figures["core_percent_per_1000_lines_a_second"] = round((busy - calm) / lines * 1000, 2)
    figures["core_percent_in_calm"] = round(calm, 2)
    print(f"processor: {calm:.1f} % of a core in calm, {busy:.1f} % at {lines:.0f} lines a second")
    print(json.dumps({"name": "passthrough", "figures": figures}))


if __name__ == "__main__":
    main()
