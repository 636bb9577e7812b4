"""What a webhook receives of a real run, and that it can neither hold it up nor give its secret away."""

import socket
import sys
from pathlib import Path

from hedgerow_operator.adapters.local.files import read_bytes
from tests.local.one_box import OneBox
from tests.unit.cli.webhook_server import WebhookServer

TRAIN = ("--", sys.executable, "train.py")


def test_a_webhook_is_told_once_of_the_hang_the_restart_its_end_and_the_success(box: OneBox) -> None:
    box.set(STEPS="40", HANG_RANK="1")
    with WebhookServer(503).running() as server:
        done = box.run("local", "--nproc", "2", "--notify", server.url, *TRAIN)
    assert done.returncode == 0, done.stdout
    assert [entry["event"] for entry in server.received] == [
        *("IncidentOpened", "Restarted", "IncidentClosed", "Succeeded")
    ]
    opened, restarted = server.received[0], server.received[1]
    assert (opened["reason"], opened["ranks"], opened["attempt"]) == ("NoProgress", [1], 1)
    assert "guilty: rank 1; what follows: attempt 2 starts in place" in opened["text"]
    assert restarted["message"] == "attempt 2 starts from the beginning"
    assert "SECRET" not in done.stdout + everything_below(box.paths.root)


def test_slack_is_told_of_a_job_that_is_given_up(box: OneBox) -> None:
    with WebhookServer().running() as server:
        done = box.run(
            *("local", "--max-restarts", "0", "--notify", server.url, "--notify-format", "slack"),
            *("--", sys.executable, "-c", "raise SystemExit(3)"),
        )
    assert done.returncode == 1
    assert [list(entry) for entry in server.received] == [["text"]] * len(server.received)
    assert "failed and is given up (MaxRestartsExceeded)" in server.received[-1]["text"]


def test_a_webhook_that_never_answers_changes_nothing_of_the_run(box: OneBox) -> None:
    box.set(STEPS="5", HEDGEROW_NOTIFY="")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/SECRET"
        box.set(HEDGEROW_NOTIFY=url)
        done = box.run("local", *TRAIN)
    assert done.returncode == 0, done.stdout
    assert f"a message to {url.removesuffix('/SECRET')} could not be delivered before the end of the run" in done.stdout
    assert "SECRET" not in done.stdout + everything_below(box.paths.root)


def everything_below(root: Path) -> str:
    return "".join((read_bytes(path) or b"").decode("latin-1") for path in root.rglob("*") if path.is_file())
