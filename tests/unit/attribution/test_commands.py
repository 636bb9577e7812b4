"""`hedgerow explain` and `hedgerow replay flight-recorder`, as a user runs them."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.attribution.reading import traceback, watchdog
from tests.unit.attribution.simulated import Job


def hedgerow(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hedgerow_operator.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    job = Job(2, 2, 2, {5: 7})
    for rank in range(job.world):
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(job.values(rank), 2))
    return tmp_path


def test_replay_prints_the_verdict_as_json(dumps: Path) -> None:
    done = hedgerow("replay", "flight-recorder", dumps, "-o", "json")
    verdict: dict[str, Any] = json.loads(done.stdout)

    assert done.returncode == 0
    assert (verdict["guilty"], verdict["victims"]) == ([5], [0, 1, 2, 3, 4, 6, 7])
    assert verdict["class"] == "Application"
    assert {"group", "collective", "message"} <= set(verdict)


def test_replay_prints_the_verdict_for_people(dumps: Path) -> None:
    done = hedgerow("replay", "flight-recorder", dumps)

    assert done.stdout.startswith("Rank 5 never joined ")
    assert "guilty   rank 5  (Application; confidence: certain)" in done.stdout


def test_explain_prints_what_the_output_tells_as_json(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(traceback("KeyError: 'x'", "[rank3]: ") + watchdog(0, 900))

    done = hedgerow("explain", log, "--ranks", "4", "-o", "json")
    explanation: dict[str, Any] = json.loads(done.stdout)

    assert done.returncode == 0
    assert (explanation["suspects"], explanation["victims"], explanation["class"]) == ([3], [0, 1, 2], "Application")
    assert [event["kind"] for event in explanation["events"]] == ["Exception", "WatchdogTimeout"]
    assert set(explanation["events"][0]) >= {"kind", "rank", "group", "op", "seq", "line"}
    assert explanation["firstFailure"]["line"] == 4


def test_explain_prints_what_the_output_tells_for_people(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text(traceback("KeyError: 'x'", "[rank3]: "))

    assert hedgerow("explain", log).stdout.startswith(
        "A fault of the program, first on rank 3 (line 4).\n  suspects  rank 3"
    )


def test_explain_of_a_job_without_failures_is_no_error(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("step 1\n")

    done = hedgerow("explain", log, "-o", "json")

    assert (done.returncode, json.loads(done.stdout)["events"], json.loads(done.stdout)["firstFailure"]) == (
        0,
        [],
        None,
    )


@pytest.mark.parametrize("command", [["explain"], ["replay", "flight-recorder"]], ids=" ".join)
def test_what_cannot_be_read_is_said_in_one_sentence(command: list[str], tmp_path: Path) -> None:
    done = hedgerow(*command, tmp_path / "missing")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "No such file" in done.stderr
