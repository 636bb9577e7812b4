"""What Hedgerow is for, on this machine: ranks that hang, stop, die, and a job that comes back or is given up."""

import json
import signal
import time

from hedgerow_operator.api import reasons
from hedgerow_operator.api.conditions import FAILED, RUNNING, STALLED, SUCCEEDED
from tests.local.processes import LocalRun, kill, launcher_pid

FAULTS = {"HANG_RANK": "2", "TORN_STEP": "30"}


def test_the_quickstart_hangs_is_understood_and_finishes_from_the_newest_whole_checkpoint(run: LocalRun) -> None:
    run.write(env={**FAULTS, "STEPS": "50"}, ranks=4)
    code, output = run.run("-o", "json")
    objects = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    incidents = [found["status"]["incident"] for found in objects if "incident" in found.get("status", {})]
    assert incidents[0]["ranks"] == [2]
    assert incidents[0]["kind"] == reasons.NO_PROGRESS
    evidence = " ".join(incidents[-1]["evidence"])
    assert "rank 2 never reached step 37, which ranks 0, 1 and 3 did" in evidence
    assert "rank 2 has used hardly any CPU" in evidence
    assert "_refill" in evidence  # the line of the example where the lock is taken a second time
    stalled = [found for found in objects if "True" in [c["status"] for c in conditions(found) if c["type"] == STALLED]]
    assert stalled
    status = run.job().status
    assert (code, status.restarts, status.restarts_counted, status.attempt) == (0, 1, 1, 2)
    assert (status.resume_step, status.lost_steps) == (20, 16)
    assert status.step == 50
    assert status.incident is None
    assert [entry.ranks for entry in status.history] == [(2,)]
    assert [(run.condition(kind).status, run.condition(kind).reason) for kind in (RUNNING, SUCCEEDED, FAILED)] == [
        ("False", reasons.ALL_RANKS_FINISHED),
        ("True", reasons.ALL_RANKS_FINISHED),
        ("False", reasons.NOT_FINISHED),
    ]
    assert "attempt 2: 4 ranks, from step 20" in run.printed()
    assert run.alive() == []


def conditions(found: dict[str, dict[str, list[dict[str, str]]]]) -> list[dict[str, str]]:
    return found.get("status", {}).get("conditions", [])


def test_a_rank_stopped_by_a_signal_is_found_and_the_job_finishes(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "60"}).start()
    run.until_printed("step 20: loss")
    kill(run.ranks()[1], signal.SIGSTOP)
    code, output = run.end(controller)
    status = run.job().status
    assert (code, status.restarts) == (0, 1), output
    assert status.history[0].ranks == (1,)
    assert "is stopped by a signal or debugger" in status.history[0].message


def test_a_rank_that_is_killed_costs_one_restart(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "60"}).start()
    run.until_printed("step 20: loss")
    kill(run.ranks()[1], signal.SIGKILL)
    code, output = run.end(controller)
    status = run.job().status
    assert (code, status.restarts) == (0, 1), output
    assert status.history[0].reason == reasons.RANK_EXITED
    assert status.history[0].ranks == (1,)
    assert status.resume_step in (20, 30, 40, 50)  # the kill follows the twentieth step, on a busy machine later


EXIT_ONCE = """
import os, sys, time
import hedgerow
for step in range(1, 20):
    time.sleep(0.05)
    hedgerow.beat(step=step)
    if step == 9 and os.environ["RANK"] == "1" and os.environ["HEDGEROW_ATTEMPT"] == "1":
        sys.exit(1)
"""


def test_a_rank_that_exits_with_code_1_costs_one_restart(run: LocalRun) -> None:
    run.write(script=run.script(EXIT_ONCE))
    code, output = run.run()
    status = run.job().status
    assert (code, status.restarts) == (0, 1), output
    assert status.history[0].ranks == (1,)
    assert "rank 1 exited with code 1 at step 9" in status.history[0].message


RAISE_ALWAYS = """
import os, time
import hedgerow
for step in range(1, 20):
    time.sleep(0.05)
    hedgerow.beat(step=step)
    if step == 9 and os.environ["RANK"] == "1":
        raise KeyError("no such column: price")
"""


def test_the_same_exception_twice_at_the_same_step_gives_up_with_it(run: LocalRun) -> None:
    run.write(script=run.script(RAISE_ALWAYS))
    code, output = run.run()
    assert (code, run.condition(FAILED).reason) == (1, reasons.APPLICATION_FAULT), output
    assert "no such column: price" in run.condition(FAILED).message
    assert run.job().status.restarts == 1
    assert run.alive() == []


def test_a_launcher_that_is_killed_takes_its_ranks_along_and_the_job_comes_back(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "60"}).start()
    run.until_printed("step 20: loss")
    kill(launcher_pid(run), signal.SIGKILL)
    code, output = run.end(controller)
    status = run.job().status
    assert (code, status.restarts, status.placement) == (0, 1, 2), output
    assert status.history[0].reason == reasons.WORKER_LOST
    assert status.resume_step in (20, 30, 40, 50)
    assert f"attempt 2: 2 ranks, from step {status.resume_step}" in run.printed(placement=2)


def test_two_workers_are_one_gang(run: LocalRun) -> None:
    run.write(env={"STEPS": "30", "HANG_RANK": "3", "HANG_STEP": "17"}, workers=2)
    code, output = run.run()
    status = run.job().status
    assert (code, status.restarts) == (0, 1), output
    assert status.history[0].ranks == (3,)
    assert "attempt 2: 4 ranks, from step 10" in run.printed()


def test_mode_observe_says_what_it_would_do_and_does_nothing(run: LocalRun) -> None:
    controller = run.write(env={"HANG_RANK": "1", "HANG_STEP": "17"}, mode="Observe").start()
    run.until(lambda: run.holds(STALLED))
    ranks = run.ranks()
    assert run.job().status.incident is not None
    assert run.job().status.incident.action.startswith("would be: ")
    time.sleep(3)  # time enough for a restart, if there were one
    assert run.ranks() == ranks
    controller.send_signal(signal.SIGINT)
    assert run.end(controller)[0] == 1
    assert run.job().status.restarts == 0
