"""The controller may be stopped, killed and started again; jobs neither die of it nor run twice."""

import signal
import time

import pytest

from hedgerow_operator.api.conditions import SUCCEEDED, SUSPENDED
from hedgerow_operator.cli.session import _SAME_PRESS_SECONDS
from tests.local.processes import LocalRun, kill, launcher_pid


def test_a_killed_controller_is_followed_by_one_that_adopts_and_never_doubles(run: LocalRun) -> None:
    first = run.write(env={"STEPS": "100"}).start()
    run.until_printed("step 10: loss")
    ranks, launcher = run.ranks(), launcher_pid(run)
    first.kill()
    first.wait()
    run.until_printed("step 20: loss")  # trains on without a controller
    second = run.start()
    run.until_printed("step 40: loss")
    assert (run.ranks(), launcher_pid(run)) == (ranks, launcher)
    code, output = run.end(second)
    status = run.job().status
    assert (code, status.attempt, status.restarts) == (0, 1, 0), output
    assert run.printed().count("from step") == 1


@pytest.mark.parametrize("moment", [0.0, 0.2, 0.4, 0.8])
def test_a_controller_killed_while_it_starts_a_job_leaves_one_job(run: LocalRun, moment: float) -> None:
    run.write(env={"STEPS": "15"}, workers=2, ranks=1)
    controller = run.start()
    run.until(lambda: (run.state / "default" / "TrainingJob" / "run.yaml").exists())
    time.sleep(moment)
    controller.kill()
    controller.wait()
    code, output = run.run()
    status = run.job().status
    assert (code, status.attempt, status.restarts) == (0, 1, 0), output
    assert sum(run.printed(worker=worker).count("from step 0") for worker in (0, 1)) == 1
    assert run.alive() == []


def test_a_controller_killed_in_the_middle_of_a_recovery_ends_in_the_same_state(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "60"}).start()
    run.until_printed("step 20: loss")
    kill(run.ranks()[1], signal.SIGKILL)
    run.until(lambda: run.job().status.attempt_stage != "Running")
    controller.kill()
    controller.wait()
    assert len(run.attempts()) <= 1
    code, output = run.run()
    status = run.job().status
    assert (code, status.restarts) == (0, 1), output
    assert status.resume_step in (20, 30, 40, 50)
    assert run.printed().count(f"attempt 2: 2 ranks, from step {status.resume_step}") == 1


def test_a_job_that_finishes_while_no_controller_runs_has_succeeded(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "12"}).start()
    run.until_printed("step 10: loss")
    controller.kill()
    controller.wait()
    run.until(lambda: not run.ranks())
    code, output = run.run()
    assert (code, run.job().status.restarts) == (0, 0), output
    assert run.printed().count("from step") == 1


def test_ctrl_c_stops_the_ranks_and_the_next_run_goes_on_from_the_checkpoint(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "100"}).start()
    run.until_printed("step 20: loss")
    controller.send_signal(signal.SIGINT)
    code, output = run.end(controller)
    assert code == 1
    assert ": hedgerow local -f" in output
    assert "Traceback" not in output
    assert run.alive() == []
    stopped = run.job()
    assert run.holds(SUSPENDED)
    assert not stopped.spec.suspend
    code, output = run.run()
    status = run.job().status
    assert (code, status.restarts_counted, status.lost_steps <= 10) == (0, 0, True), output
    assert (status.resume_step or 0) >= 20
    assert f"from step {status.resume_step}" in run.printed(placement=status.placement)


STUBBORN = """
import os, signal, time
import hedgerow
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("rank", os.environ["RANK"], "ignores TERM")
step = 0
while True:
    step += 1
    hedgerow.beat(step=step)
    time.sleep(0.1)
"""


def test_a_second_ctrl_c_kills_at_once(run: LocalRun) -> None:
    controller = run.write(script=run.script(STUBBORN), grace=60).start()
    run.until(lambda: run.printed().count("ignores TERM") == 2)
    controller.send_signal(signal.SIGINT)
    run.until(lambda: run.job().status.attempt_stage == "Stopping")
    told = time.monotonic()
    run.until(lambda: time.monotonic() - told > _SAME_PRESS_SECONDS)
    assert len(run.ranks()) == 2
    controller.send_signal(signal.SIGINT)
    code, output = run.end(controller, 45)
    assert code == 1
    assert "killing the ranks" in output
    run.until(lambda: run.alive() == [])


def test_ranks_that_ignore_the_request_are_killed_after_the_grace(run: LocalRun) -> None:
    controller = run.write(script=run.script(STUBBORN), grace=1).start()
    run.until(lambda: run.printed().count("ignores TERM") == 2)
    controller.send_signal(signal.SIGTERM)
    code, _ = run.end(controller, 60)
    assert code == 1
    assert run.alive() == []


def test_a_finished_job_is_not_run_again_and_the_exit_code_tells_how_it_ended(run: LocalRun) -> None:
    run.write(env={"STEPS": "3"})
    assert run.run()[0] == 0
    printed = run.printed()
    code, output = run.run()
    assert (code, run.holds(SUCCEEDED)) == (0, True)
    assert "nothing was started" in output
    assert run.printed() == printed


def test_a_second_controller_on_the_same_state_is_refused(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "600"}).start()
    run.until_printed("from step")
    code, output = run.run()
    assert code == 2
    assert f"another hedgerow (process {controller.pid}) runs the jobs in" in output
    assert output.count("\n") == 1
    assert len(run.ranks()) == 2


def test_a_suspended_manifest_is_not_run(run: LocalRun) -> None:
    run.write()
    run.manifest.write_text(run.manifest.read_text().replace("spec:", "spec:\n  suspend: true"))
    code, output = run.run()
    assert code == 1, output
    assert run.holds(SUSPENDED)
    assert run.alive() == []


def test_lines_come_as_things_happen_into_a_pipe_too(run: LocalRun) -> None:
    controller = run.write(env={"STEPS": "60"}).start()
    assert controller.stdout is not None
    assert "PlacementCreated" in controller.stdout.readline()
    assert controller.poll() is None
