"""A launcher that stands still is ended with its ranks and the job comes back; one that is only not heard is left."""

import os
import re
import signal
import time

import pytest

from hedgerow_operator.adapters.local import launcher_watch
from hedgerow_operator.adapters.local.launcher_watch import LauncherWatch
from hedgerow_operator.adapters.local.processes import Identity
from hedgerow_operator.api import reasons
from tests.local.processes import LocalRun, kill, launcher_pid

LAUNCHER = Identity(1, 1)


def written(run: LocalRun, **fields: object) -> LocalRun:
    run.write(**fields)  # type: ignore[arg-type]
    text = run.manifest.read_text()
    run.manifest.write_text(text.replace("health: {", "health: {reportTimeoutSeconds: 10, "))
    return run


def test_a_launcher_stopped_by_a_signal_is_ended_with_its_ranks_and_the_job_comes_back(run: LocalRun) -> None:
    controller = written(run, env={"STEPS": "100000"}).start()
    run.until_printed("step 20: loss")
    launcher, ranks = launcher_pid(run), run.ranks()
    # Its whole group: the shell that writes down how it ended, too.
    os.killpg(os.getpgid(launcher), signal.SIGSTOP)
    run.until(lambda: not set(ranks.values()) & {member.identity.pid for member in run.alive()})
    assert len(run.attempts()) <= 1
    run.until(lambda: run.attempts() == {"2"})
    controller.send_signal(signal.SIGINT)
    code, output = run.end(controller)
    status = run.job().status
    assert (code, status.restarts, status.history[0].reason) == (1, 1, reasons.WORKER_LOST), output
    assert re.search(r"its launcher was stopped by a signal for \d\d", status.history[0].message)
    assert run.alive() == []


def test_ctrl_c_ends_a_run_whose_launcher_is_stopped(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "100000"}).start()
    run.until_printed("step 10: loss")
    kill(launcher_pid(run), signal.SIGSTOP)
    controller.send_signal(signal.SIGINT)
    run.until(lambda: controller.poll() is not None)
    assert run.alive() == []


def test_a_launcher_that_cannot_report_is_left_alone(run: LocalRun) -> None:
    controller = written(run, env={"STEPS": "300"}).start()
    run.until_printed("step 10: loss")
    ranks = run.ranks()
    (run.state / "address").write_text("http://127.0.0.1:9\n")
    began = time.monotonic()
    run.until(lambda: time.monotonic() - began > 14)
    assert run.ranks() == ranks
    code, output = run.end(controller)
    assert (code, run.job().status.restarts) == (0, 0), output


@pytest.mark.parametrize(
    ("looks", "seconds"),
    [
        ([(0, 5), (1, 6), (2, 7)], 0.0),
        ([(0, 5), (1, 5), (2, 5), (3, 5)], 3.0),
        ([(0, 5), (1, 5), (2, 6), (3, 6)], 1.0),
        ([(0, 5), (600, 5)], 2.0),
        ([(0, 5), (1, None), (2, 5), (3, 5)], 1.0),
    ],
    ids=[
        "one that wakes up",
        "one that does not",
        "one that woke up in between",
        "time in which nobody looked counts for little",
        "one that could not be read was not seen to stand still",
    ],
)
def test_how_long_a_launcher_has_been_seen_to_stand_still(
    monkeypatch: pytest.MonkeyPatch, looks: list[tuple[float, int | None]], seconds: float
) -> None:
    watch, seen = LauncherWatch(), 0.0
    for now, count in looks:
        monkeypatch.setattr(launcher_watch, "wake_ups", lambda launcher, count=count: count)
        seen = watch.look(LAUNCHER, now)
    assert seen == seconds
