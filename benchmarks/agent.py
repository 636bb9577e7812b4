"""What the node agent costs its node: processor share and memory at one look a second, with eight fake GPUs.

It reports every five seconds to a server that only answers, and its metrics are read every fifteen seconds, as
Prometheus does. Run: python benchmarks/agent.py [--quick]. The last line is JSON with the figures.
"""

import argparse
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

AGENT = Path(__file__).resolve().parent.parent / "agent"
AIM_PERCENT, AIM_MIB = 0.5, 40.0
GPUS = 8
WARM_SECONDS, SCRAPE_SECONDS = 5.0, 15.0
BUSY = {
    "utilisation_percent": 100, "power_watts": 410, "memory_used_bytes": 7e10, "sm_activity_percent": 61,
    "tensor_activity_percent": 48, "nvlink_transmitted_bytes": {"start": 0, "per_second": 2e10},
    "nvlink_received_bytes": {"start": 0, "per_second": 2e10}, "nvlink_crc_errors": 0, "nvlink_recovery_errors": 0,
    "remap_pending": 0, "remap_failed": 0,
}  # fmt: skip


class Sink(http.server.BaseHTTPRequestHandler):
    """An operator that takes every report."""

    sizes: list[int] = []  # noqa: RUF012

    def do_POST(self) -> None:
        """Read it and say so."""
        size = int(self.headers["Content-Length"])
        self.sizes.append(len(self.rfile.read(size)))
        body = b'{"version":1,"interval_seconds":5.0}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def cpu_seconds(pid: int) -> float:
    """Time on a processor of all threads so far, as the scheduler counts it: ticks would miss most short runs."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def rss_mib(pid: int) -> float:
    """Resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def start(folder: str, sink: int) -> "subprocess.Popen[str]":
    """The agent."""
    gpus = Path(folder) / "gpus.json"
    processes = [{"pid": os.getpid(), "memory_bytes": 7 * 10**10}]
    gpus.write_text(json.dumps({"gpus": [{"profile": "a100", "count": GPUS, "values": BUSY, "processes": processes}]}))
    command = [sys.executable, "-m", "hedgerow_agent", "--devices", f"fake:{gpus}", "--metrics-address", "127.0.0.1:0",
               "--report-url", f"http://127.0.0.1:{sink}", "--checkpoint-path", folder]  # fmt: skip
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(AGENT)})


def measure(seconds: float) -> dict[str, float]:
    """Figures over so long."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder, start(folder, server.server_address[1]) as process:
        assert process.stderr is not None
        port = next(line for line in process.stderr if "metrics are served" in line).split()[-1]
        time.sleep(WARM_SECONDS)
        began, spent, scrape = time.monotonic(), cpu_seconds(process.pid), 0.0
        first = rss_mib(process.pid)
        while (elapsed := time.monotonic() - began) < seconds:
            if elapsed >= scrape:
                scrape += SCRAPE_SECONDS
                urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read()
            time.sleep(0.1)
        percent = 100.0 * (cpu_seconds(process.pid) - spent) / elapsed
        last = rss_mib(process.pid)
        process.kill()
    return {
        "cpuPercent": round(percent, 3),
        "rssMiB": round(last, 1),
        "rssGrowthMiB": round(last - first, 2),
        "reportBytes": max(Sink.sizes),
    }


def main() -> None:
    """Measure, and say how it stands to the aims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="half a minute instead of two")
    figures = measure(30.0 if parser.parse_args().quick else 120.0)
    print(f"processor: {figures['cpuPercent']} % of a core, aim {AIM_PERCENT}")
    print(f"memory: {figures['rssMiB']} MiB, aim {AIM_MIB}; it grew by {figures['rssGrowthMiB']} MiB meanwhile")
    print(f"a report: {figures['reportBytes']} bytes")
    print(json.dumps({"name": "agent", "figures": figures}))


if __name__ == "__main__":
    main()
