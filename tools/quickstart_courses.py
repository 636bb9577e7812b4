"""Writes examples/quickstart/inferenceendpoint.yaml: an endpoint over three simulated providers, drawn by a seed.

The shapes are those of GPUHedge's 54 rounds of a 17 GB model (github.com/mireklzicar/gpuhedge): a cheap provider that
is quick or very slow, a steadier one, and a slow one. Run ``python tools/quickstart_courses.py`` after a change; a test
compares.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "examples" / "quickstart" / "inferenceendpoint.yaml"
_ROUNDS = 54
_SEED = 20
_HEAD = """\
# An endpoint over three simulated serverless GPU providers; everything goes 100 times as fast as it would.
#   hedgerow local -f examples/quickstart/inferenceendpoint.yaml
#   curl -X POST http://127.0.0.1:PORT/default/speech/runsync -d '{"input": {"text": "hello"}}'
# Written by tools/quickstart_courses.py.
apiVersion: hedgerow.dev/v1alpha1
kind: InferenceEndpoint
metadata:
  name: speech
spec:
  protocol: Job
  providers:  # the first is preferred
  - {name: cheap, providerRef: {name: cheap}}
  - {name: steady, providerRef: {name: steady}}
  - {name: slow, providerRef: {name: slow}}
  hedge:
    policy: Adaptive
    cutoverMillis: 25  # until it has learned: 2.5 s, 8.5 s and 25 s, at this pace
    safetyMillis: 85
    escalateMillis: 250
    maxLive: 3
    maxExtraLoadPercent: 100
  slo: {latencyMillis: 600, objectivePercent: 95}
"""

Draw = Callable[[random.Random], tuple[float, float]]


def _cheap(draw: random.Random) -> tuple[float, float]:
    """Quick in two of three requests; else a cold container."""
    if draw.random() < 0.67:
        return draw.uniform(1.1, 1.96), draw.uniform(4.0, 5.0)
    return draw.uniform(8.9, 27.6), draw.uniform(88.0, 100.0)


def _steady(draw: random.Random) -> tuple[float, float]:
    if draw.random() < 0.88:
        return draw.uniform(2.6, 3.4), draw.uniform(15.8, 16.6)
    return draw.uniform(9.0, 12.0), draw.uniform(60.0, 92.0)


def _slow(draw: random.Random) -> tuple[float, float]:
    if draw.random() < 0.85:
        return draw.uniform(8.0, 14.0), draw.uniform(20.0, 34.0)
    return draw.uniform(15.0, 25.0), draw.uniform(50.0, 75.0)


def text() -> str:
    """The whole file."""
    providers = (
        _provider("cheap", "0.000306", "Queue", _cheap),
        _provider("steady", "0.000736", "Start", _steady),
        _provider("slow", "0.000704", "Nothing", _slow),
    )
    return _HEAD + "".join(providers)


def _provider(name: str, price: str, shows: str, draw: Draw) -> str:
    head = f"""\
---
apiVersion: hedgerow.dev/v1alpha1
kind: ServerlessProvider
metadata:
  name: {name}
spec:
  type: Simulated
  price: {{perSecondUSD: "{price}"}}
  simulated:
    timeScale: 100
    shows: {shows}
    courses:
"""
    return head + "".join(_courses(name, draw))


def _courses(name: str, draw: Draw) -> Iterator[str]:
    source = random.Random(f"{_SEED} {name}")  # noqa: S311  (the same each time)
    for _ in range(_ROUNDS):
        queue, run = draw(source)
        yield f"    - {{queueMillis: {round(queue * 1000)}, runMillis: {round(run * 1000)}}}\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
