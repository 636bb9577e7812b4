"""What the gateway costs a request, beside the server itself, Envoy (plain, and hedging on its per-try timeout) and
LiteLLM's proxy; whole answers and streams, in the same run on loopback.

A rate a core is requests by seconds of processor time of the proxy's own processes, as fast as a few connections ask.
What a proxy adds is the latency at a low rate, less the server's own; with others on the machine, p99 shows them too.
The tail: one request in fifty takes half a second; hedged after 50 ms by Hedgerow and by Envoy.
Run: python benchmarks/gateway.py [--quick]: without it, Envoy and LiteLLM are installed in environments of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gateway_parts.others import envoy_config, litellm_config, program
from gateway_parts.servers import HERE, Server, free_port, other, own

PATH, OURS = "/v1/chat/completions", "/bench/model/v1/chat/completions"
CONNECTIONS, CALM_CONNECTIONS, CALM_RATE = 16, 2, 50
HEDGE_AFTER = 0.05
AIM_P50_MILLIS, AIM_P99_MILLIS, AIM_RATE, AIM_TIMES = 1.0, 5.0, 1500, 5


class Measured:
    """One proxy, one kind of answer. per_core: None for the server itself."""

    def __init__(self, fast: dict[str, Any], calm: dict[str, Any], cpu: float) -> None:
        self.wrong = fast["wrong"] + calm["wrong"]
        self.rate = len(fast["latencies"]) / fast["seconds"]
        self.per_core = len(fast["latencies"]) / cpu if cpu else 0.0
        calm_latencies = sorted(calm["firsts"] or calm["latencies"]) or [float("nan")]
        self.p50, self.p99 = at(calm_latencies, 0.5), at(calm_latencies, 0.99)


def at(ordered: list[float], share: float) -> float:
    """In milliseconds, nearest rank."""
    return ordered[round(share * (len(ordered) - 1))] * 1000


def load(port: int, path: str, connections: int, seconds: float, kind: str, rate: float = 0) -> dict[str, Any]:
    """What who asks has found."""
    command = [sys.executable, "-m", "gateway_parts.load", str(port), path, str(connections), str(seconds), kind,
               str(rate)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, check=True, timeout=seconds + 60)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(server: Server, path: str, kind: str, seconds: float) -> Measured:
    """Both loads, after a short one to warm it."""
    load(server.port, path, 2, 0.3, kind)
    before = server.cpu_seconds()
    fast = load(server.port, path, CONNECTIONS, seconds, kind)
    cpu = server.cpu_seconds() - before
    return Measured(fast, load(server.port, path, CALM_CONNECTIONS, seconds, kind, CALM_RATE), cpu)


@contextlib.contextmanager
def envoy(folder: Path, upstreams: list[int], hedge_after: float | None, install: bool) -> Iterator[Server]:
    """Raises RuntimeError."""
    command, port = program("envoy", install), free_port()
    if command is None:
        raise RuntimeError("Envoy is not installed")
    config = folder / f"envoy-{port}.json"
    config.write_text(envoy_config(port, upstreams, hedge_after))
    with other([command, "-c", config, "--concurrency", "1", "--log-level", "off", "--use-dynamic-base-id"],
               port) as server:
        yield server


@contextlib.contextmanager
def litellm(folder: Path, upstream: int, install: bool) -> Iterator[Server]:
    """Raises RuntimeError."""
    command, port = program("litellm", install), free_port()
    if command is None:
        raise RuntimeError("LiteLLM is not installed")
    config = folder / "litellm.yaml"
    config.write_text(litellm_config(upstream))
    with other([command, "--config", config, "--port", str(port), "--host", "127.0.0.1"], port) as server:
        yield server


class Table:
    """Prints each line as soon as it is there."""

    def __init__(self) -> None:
        self.direct: dict[str, Measured] = {}
        self.found: dict[tuple[str, str], Measured] = {}
        print(f"{'':22} {'':7} {'req/s':>7} {'a core':>7} {'p50 ms':>7} {'added':>7} {'p99 ms':>7} {'added':>7}")

    def add(self, name: str, kind: str, one: Measured) -> None:
        """One line."""
        direct = self.direct.setdefault(kind, one)
        self.found[name, kind] = one
        wrong = f"  {one.wrong} wrong" if one.wrong else ""
        print(f"{name:22} {kind:7} {one.rate:7.0f} {one.per_core:7.0f} {one.p50:7.2f} {one.p50 - direct.p50:7.2f} "
              f"{one.p99:7.2f} {one.p99 - direct.p99:7.2f}{wrong}", flush=True)


def compare(table: Table, seconds: float, install: bool, folder: Path) -> None:
    """All proxies before a server that answers at once."""
    with own("gateway_parts.upstream") as server, own("gateway_parts.upstream") as second:
        urls = [f"http://127.0.0.1:{one.port}" for one in (server, second)]
        for kind in ("whole", "stream"):
            table.add("direct", kind, measured(server, PATH, kind, seconds))
        for name, policy in (("hedgerow", "none"), ("hedgerow, hedging", "fixed")):
            with own("gateway_parts.ours", policy, *urls) as ours:
                for kind in ("whole", "stream"):
                    table.add(name, kind, measured(ours, OURS, kind, seconds))
        with leaving_out("Envoy"), envoy(folder, [server.port, second.port], None, install) as plain:
            for kind in ("whole", "stream"):
                table.add("envoy", kind, measured(plain, PATH, kind, seconds))
        with leaving_out("LiteLLM"), litellm(folder, server.port, install) as lite:
            table.add("litellm", "whole", measured(lite, PATH, "whole", seconds))


def tails(seconds: float, install: bool, folder: Path) -> dict[str, float]:
    """p99 in milliseconds where some answers take half a second."""
    found: dict[str, float] = {}
    slow = ("gateway_parts.upstream", "0.02", "0.5")
    with own(*slow) as server, own(*slow) as second:
        urls = [f"http://127.0.0.1:{one.port}" for one in (server, second)]
        found["direct"] = calm_p99(server.port, PATH, seconds)
        with own("gateway_parts.ours", "fixed", *urls) as ours:
            found["hedgerow, hedging"] = calm_p99(ours.port, OURS, seconds)
        with leaving_out("Envoy"), envoy(folder, [server.port, second.port], HEDGE_AFTER, install) as hedging:
            found["envoy, hedging"] = calm_p99(hedging.port, PATH, seconds)
    for name, millis in found.items():
        print(f"{name:22} p99 {millis:6.0f} ms where 1 of 50 answers takes 500 ms")
    return found


def calm_p99(port: int, path: str, seconds: float) -> float:
    """At twice the low rate."""
    return at(sorted(load(port, path, 16, seconds, "whole", CALM_RATE * 2)["latencies"]), 0.99)


@contextlib.contextmanager
def leaving_out(name: str) -> Iterator[None]:
    """What cannot be measured here is said, and the rest goes on."""
    try:
        yield
    except RuntimeError as error:
        print(f"{name} is left out: {error}", flush=True)


def figures(table: Table, tail: dict[str, float]) -> dict[str, float]:
    """What is compared over time; none of what was left out."""
    ours, direct = table.found["hedgerow", "whole"], table.direct["whole"]
    found = {
        "requestsPerSecondPerCore": round(ours.per_core),
        "addedP50Millis": round(ours.p50 - direct.p50, 2),
        "addedP99Millis": round(ours.p99 - direct.p99, 2),
        "hedgedRequestsPerSecondPerCore": round(table.found["hedgerow, hedging", "whole"].per_core),
        "streamsPerSecondPerCore": round(table.found["hedgerow", "stream"].per_core),
        "tailP99Millis": round(tail["hedgerow, hedging"]),
    }
    for key, name in (("timesLiteLLM", "litellm"), ("timesEnvoy", "envoy")):
        peer = table.found.get((name, "whole"))
        if peer is not None and peer.per_core:
            found[key] = round(ours.per_core / peer.per_core, 2)
    return found


def main() -> None:
    """Prints the table, and the figures as its last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="at most 40 s; nothing is installed")
    quick = parser.parse_args().quick
    seconds = 0.8 if quick else 8.0
    with tempfile.TemporaryDirectory() as folder:
        table = Table()
        compare(table, seconds, not quick, Path(folder))
        found = figures(table, tails(1.5 if quick else 20.0, not quick, Path(folder)))
    print(f"aims: {AIM_RATE} req/s a core, +{AIM_P50_MILLIS:.0f} ms p50, +{AIM_P99_MILLIS:.0f} ms p99, "
          f"{AIM_TIMES} x LiteLLM")
    print(json.dumps({"name": "gateway", "figures": found}))


if __name__ == "__main__":
    main()
