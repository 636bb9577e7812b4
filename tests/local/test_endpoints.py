"""`hedgerow local` serves endpoints: a real gateway on loopback, in a process that a person ends."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.api.yaml_text import read_documents
from tests.local.forked import Forked, run_to_end

KEY = "sk-do-not-show-me"
MANIFESTS = """
apiVersion: hedgerow.dev/v1alpha1
kind: InferenceEndpoint
metadata: {name: tts}
spec:
  protocol: Job
  providers: [{name: quick, providerRef: {name: quick}}]
  hedge: {policy: None}
  auth: {apiKeySecretRef: {name: keys}}
---
apiVersion: hedgerow.dev/v1alpha1
kind: ServerlessProvider
metadata: {name: quick}
spec:
  type: Simulated
  price: {perSecondUSD: "0.001"}
  simulated: {timeScale: 100, courses: [{queueMillis: 1000, runMillis: 1000}]}
"""
JOB = """
---
apiVersion: hedgerow.dev/v1alpha1
kind: TrainingJob
metadata: {name: short}
spec: {workers: 1, ranksPerWorker: 1, local: {command: [sleep, "1"]}}
"""


class Served:
    """One run of hedgerow local."""

    def __init__(self, folder: Path, text: str, *options: str, **variables: str) -> None:
        self.state = folder / "state"
        (folder / "all.yaml").write_text(text)
        words = ["local", "-f", str(folder / "all.yaml"), "--state-dir", str(self.state), *options]
        self.process = Forked(words, env={**os.environ, **variables})

    def address(self) -> str:
        return until(lambda: (self.state / "gateway-address").read_text().strip(), self.process)

    def ask(self, path: str, key: str | None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        data = json.dumps({"input": {"text": "hello"}}).encode()
        request = urllib.request.Request(self.address() + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def status(self, kind: str, name: str) -> dict[str, Any]:
        (document,) = read_documents((self.state / "default" / kind / f"{name}.yaml").read_text())
        found: dict[str, Any] = document.fields["status"]
        return found

    def end(self) -> str:
        self.process.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=120)
        return said

    def close(self) -> None:
        """End it, and its jobs with it."""
        if self.process.poll() is None:
            self.end()


def until(look: Callable[[], Any], process: Forked, seconds: float = 120.0) -> Any:
    """What is found within the time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if found := look():
                return found
        except (OSError, LookupError, ValueError):
            pass
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    raise AssertionError("it did not come to that in time")


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    runs: list[Served] = []

    def begin(*options: str, text: str = MANIFESTS, **variables: str) -> Served:
        runs.append(Served(tmp_path, text, *options, **variables))
        return runs[-1]

    yield begin
    for run in runs:
        run.close()


def test_an_endpoint_is_served_until_ctrl_c_and_says_how_it_stands(serve: Callable[..., Served]) -> None:
    run = serve(HEDGEROW_SECRET_KEYS_ALICE=KEY)
    assert run.ask("/default/tts/runsync", None)[0] == 401
    assert run.ask("/default/tts/runsync", "sk-wrong")[0] == 401
    code, said = run.ask("/default/tts/runsync", KEY)
    assert (code, said["status"], said["output"]["provider"]) == (200, "COMPLETED", "quick")
    status = until(lambda: (found := run.status("InferenceEndpoint", "tts"))["requests"] and found, run.process)
    assert (status["state"], status["reason"], status["providers"][0]["name"]) == ("Ready", "Serving", "quick")
    assert status["url"] == f"{run.address()}/default/tts"
    until(lambda: run.status("ServerlessProvider", "quick")["state"] == "Ready", run.process)
    told = run.end()
    assert run.process.returncode == 0
    assert f"default/tts is served at {status['url']}" in told
    assert "default/tts answered 1 request; p50 0.0" in told
    everything = told + "".join(path.read_text(errors="replace") for path in run.state.rglob("*") if path.is_file())
    assert KEY not in everything
    assert not (run.state / "gateway-address").exists()


def test_keys_are_read_from_a_folder(serve: Callable[..., Served], tmp_path: Path) -> None:
    (tmp_path / "secrets" / "keys").mkdir(parents=True)
    (tmp_path / "secrets" / "keys" / "bob").write_text(f"{KEY}\n")
    run = serve("--secrets", str(tmp_path / "secrets"))
    assert run.ask("/default/tts/runsync", KEY)[0] == 200
    assert run.end()


def test_an_endpoint_whose_secret_is_missing_says_what_to_set(serve: Callable[..., Served]) -> None:
    run = serve()
    assert run.ask("/default/tts/runsync", KEY)[0] == 404
    status = run.status("InferenceEndpoint", "tts")
    assert (status["state"], status["reason"]) == ("NotReady", "SecretMissing")
    assert "set HEDGEROW_SECRET_KEYS_KEY" in run.end()


def test_it_ends_with_the_jobs_where_it_is_told_to(serve: Callable[..., Served]) -> None:
    run = serve("--exit-when-jobs-done", text=MANIFESTS + JOB, HEDGEROW_SECRET_KEYS_ALICE=KEY)
    said, _ = run.process.communicate(timeout=60)
    assert run.process.returncode == 0, said
    assert "default/tts is served at" in said
    assert "default/short succeeded" in said


def test_a_port_that_is_taken_is_told_in_a_sentence(serve: Callable[..., Served]) -> None:
    first = serve(HEDGEROW_SECRET_KEYS_ALICE=KEY)
    port = first.address().rsplit(":", 1)[1]
    second = serve("--gateway-port", port, "--state-dir", str(first.state.with_name("other")))
    said, _ = second.process.communicate(timeout=60)
    assert second.process.returncode != 0
    assert f"port {port} cannot be had" in said
    assert "Traceback" not in said
    first.end()


def test_in_the_background_it_goes_on_until_hedgerow_stop(serve: Callable[..., Served]) -> None:
    run = serve("--detach", HEDGEROW_SECRET_KEYS_ALICE=KEY)
    said, _ = run.process.communicate(timeout=60)
    assert "default/tts: looked after in the background by process" in said
    address = (run.state / "gateway-address").read_text().strip()
    with urllib.request.urlopen(f"{address}/healthz", timeout=60) as answer:
        assert answer.status == 200
    code, told = run_to_end("stop", "--state-dir", str(run.state))
    assert code == 0, told
    assert "endpoints are served no longer" in told
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{address}/healthz", timeout=60)
