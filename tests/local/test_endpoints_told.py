"""What `hedgerow ps` and the end of a run say of endpoints that `hedgerow local` serves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.local.forked import run_to_end
from tests.local.test_endpoints import JOB, KEY, MANIFESTS, Served, until

LONG = MANIFESTS.replace("runMillis: 1000}", "runMillis: 1000}, {queueMillis: 1000, runMillis: 6000000}")


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[str], Served]]:
    runs: list[Served] = []

    def begin(text: str) -> Served:
        runs.append(Served(tmp_path, text, HEDGEROW_SECRET_KEYS_ALICE=KEY))
        return runs[-1]

    yield begin
    for run in runs:
        run.close()


def listed(run: Served, *options: str) -> str:
    code, told = run_to_end("ps", "--state-dir", str(run.state), *options)
    assert code == 0, told
    return told


def entries(run: Served) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in listed(run, "-o", "json").splitlines()]
    return {entry["name"]: entry for entry in found}


def test_ps_lists_endpoints_while_they_are_served_and_afterwards(serve: Callable[[str], Served]) -> None:
    run = serve(MANIFESTS)
    assert run.ask("/default/tts/runsync", KEY)[0] == 200
    until(lambda: run.status("InferenceEndpoint", "tts")["requests"], run.process)
    header, line = listed(run).splitlines()
    assert header.split() == ["ENDPOINT", "STATE", "REASON", "URL", "REQUESTS", "HEDGED", "P95", "SPEND", "AGE", "PID"]
    cells = line.split()
    assert cells[:5] == ["tts", "Ready", "Serving", f"{run.address()}/default/tts", "1"]
    assert cells[-1] == str(run.process.pid)
    run.end()
    assert listed(run).splitlines()[1].split()[:5] == ["tts", "Stopped", "NotServed", "-", "1"]


def test_ps_lists_jobs_and_endpoints_beside_each_other(serve: Callable[[str], Served]) -> None:
    run = serve(MANIFESTS + JOB)
    until(lambda: run.status("InferenceEndpoint", "tts"), run.process)
    found = until(lambda: (got := entries(run)).keys() == {"short", "tts"} and got, run.process)
    assert {name: entry["kind"] for name, entry in found.items()} == {
        "short": "TrainingJob",
        "tts": "InferenceEndpoint",
    }
    assert (found["tts"]["served"], found["tts"]["pid"]) == (True, run.process.pid)
    jobs, endpoints = listed(run).split("\n\n")
    assert jobs.startswith("NAME ")
    assert endpoints.startswith("ENDPOINT ")


def test_what_was_only_held_is_not_said_to_be_spent(serve: Callable[[str], Served]) -> None:
    run = serve(LONG)
    assert run.ask("/default/tts/runsync", KEY)[0] == 200
    assert run.ask("/default/tts/run", KEY)[0] == 200
    until(lambda: float(run.status("InferenceEndpoint", "tts")["spend"]["dayUSD"]) > 0.1, run.process)
    told = run.end()
    (spent,) = re.findall(r"\$([0-9.]+) spent", told)
    assert float(spent) < 0.05, told
