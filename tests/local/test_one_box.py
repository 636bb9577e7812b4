"""One machine, no manifest: a command is watched, healed, and outlives its terminal."""

import json
import os
import re
import signal
import subprocess
import sys

from hedgerow_operator.api.conditions import SUCCEEDED, is_true
from tests.local.one_box import HEDGEROW, OneBox

TRAIN = ("--", sys.executable, "train.py")


def test_a_hang_is_healed_without_a_manifest(box: OneBox) -> None:
    box.set(STEPS="40", HANG_RANK="1")
    done = box.run("local", "--nproc", "2", *TRAIN)
    assert done.returncode == 0, done.stdout
    assert "rank 1 never reached" in done.stdout
    status = box.job().status
    assert (status.restarts, status.step) == (1, 40)
    assert status.history[0].ranks == (1,)


def test_the_terminal_shows_step_time_phase_ranks_and_verdict(box: OneBox) -> None:
    box.set(STEPS="40")
    terminal = box.terminal("local", "--nproc", "2", *TRAIN)
    terminal.until(" Healthy")
    assert terminal.wait() == 0
    assert re.search(r"NAME +STATE +STEP +STEP TIME +PHASE +RANKS +RESTARTS +CHECKPOINT +VERDICT", terminal.shown)
    assert re.search(r"train +Running +\d+ +1\d\d ms +step +2/2 +0 +Healthy", terminal.shown), terminal.shown


def test_a_closed_terminal_leaves_the_run_to_ps_attach_and_stop(box: OneBox) -> None:
    box.set(STEPS="3000")
    first = box.terminal("local", "--checkpoint-dir", "ckpt", *TRAIN)
    first.until(r" \d+ ms +step ")
    ranks = box.ranks()
    first.hang_up()
    box.until(lambda: "the terminal is gone, the run goes on in the background" in box.log())
    assert box.supervisor() == first.pid
    assert box.ranks() == ranks
    listed = rf"train +Running +Training +\d+ +1/1 +0 +\d+s +{first.pid}\n"
    box.until(lambda: re.search(listed, box.said("ps")) is not None)
    again = box.terminal("attach")
    again.until(" Healthy")
    assert "AttemptStarted: attempt 1 starts" in again.shown
    again.press(b"\x03")
    assert again.wait() == 0
    assert "left; the jobs go on" in again.shown
    assert box.supervisor() == first.pid
    told = box.said("stop", "train").splitlines()
    assert re.search(
        r"^default/train is stopped at step \d+; there is no whole checkpoint yet, so it would begin at step 0; to run "
        r"it again: hedgerow local --checkpoint-dir ckpt --state-dir .hedgerow -- \S+python\S* train.py$",
        told[-1],
    ), told
    assert (box.supervisor(), box.ranks()) == (None, [])
    assert re.search(r"train +Stopped +Interrupted", box.said("ps"))
    assert first.wait() == 1


def test_a_run_that_is_detached_returns_at_once_and_ends_in_its_log(box: OneBox) -> None:
    box.set(STEPS="20")
    said = box.said("local", "--detach", *TRAIN)
    match = re.search(r"default/train: looked after in the background by process (\d+); hedgerow attach shows it", said)
    assert match, said
    assert box.supervisor() in (int(match[1]), None)
    attached = box.run("attach")
    assert attached.returncode == 0, attached.stdout
    assert attached.stdout.count("default/train succeeded: step 20 reached") == 1
    assert "default/train succeeded" in box.log()


def test_bad_input_to_a_run_that_is_detached_is_told_where_it_was_started(box: OneBox) -> None:
    done = box.run("local", "--detach", "--name", "x", "--state-dir", "/dev/null/x", *TRAIN)
    assert done.returncode == 2
    assert done.stdout.startswith("hedgerow: the state directory /dev/null/x cannot be used")


def test_ranks_whose_supervisor_was_killed_are_told_taken_over_and_stopped(box: OneBox) -> None:
    box.set(STEPS="3000")
    box.said("local", "--detach", *TRAIN)
    box.until(lambda: bool(box.ranks()))
    supervisor = box.supervisor()
    assert supervisor
    os.kill(supervisor, signal.SIGKILL)
    box.until(lambda: box.supervisor() is None)
    listed = box.said("ps")
    assert re.search(r"train +Unwatched +SupervisorGone", listed)
    assert "the hedgerow that looked after it is gone, and its ranks go on by themselves; to go on from there" in listed
    attached = box.run("attach")
    assert attached.returncode == 1
    assert "to go on from there: hedgerow local --state-dir .hedgerow --detach -- " in attached.stdout
    ranks = box.ranks()
    box.said("local", "--detach", *TRAIN)  # takes them over
    assert box.ranks() == ranks
    supervisor = box.supervisor()
    assert supervisor
    os.kill(supervisor, signal.SIGKILL)
    box.until(lambda: box.supervisor() is None)
    assert "default/train is stopped" in box.said("stop")
    assert box.ranks() == []


def test_the_same_command_goes_on_and_after_its_end_begins_a_new_job(box: OneBox) -> None:
    box.set(STEPS="5")
    for name in ("train", "train-2"):
        box.said("local", *TRAIN)
        assert is_true(box.job(name).status.conditions, SUCCEEDED)
    listed = [json.loads(line) for line in box.said("ps", "-o", "json").splitlines()]
    assert {entry["name"]: (entry["state"], entry["step"], entry["watched"]) for entry in listed} == {
        "train": ("Succeeded", 5, False),
        "train-2": ("Succeeded", 5, False),
    }


def test_another_command_of_a_script_that_still_runs_is_refused(box: OneBox) -> None:
    box.set(STEPS="3000")
    box.said("local", "--detach", *TRAIN)
    box.until(lambda: bool(box.ranks()))
    done = box.run("local", *TRAIN, "--lr", "0.1")
    assert done.returncode == 2
    assert "train still runs here, by another command" in done.stdout
    assert "end it with hedgerow stop train" in done.stdout


def test_one_of_two_jobs_can_be_stopped(box: OneBox) -> None:
    box.set(STEPS="3000")
    for name in ("one", "two"):
        (box.folder / f"{name}.yaml").write_text(
            f"apiVersion: hedgerow.dev/v1alpha1\nkind: TrainingJob\nmetadata: {{name: {name}}}\n"
            f"spec: {{workers: 1, ranksPerWorker: 1, local: {{command: [{sys.executable}, train.py]}}}}\n"
        )
    box.said("local", "--detach", "-f", ".")
    box.until(lambda: all(box.ranks(name) for name in ("one", "two")))
    assert "default/one is stopped" in box.said("stop", "one")
    assert (box.ranks("one"), len(box.ranks("two"))) == ([], 1)
    assert box.supervisor() is not None
    assert box.run("stop", "three").stdout.endswith("there are: one, two\n")
    box.said("stop")
    assert box.supervisor() is None


def test_nohup_is_left_to_do_what_it_does(box: OneBox) -> None:
    box.set(STEPS="3000")
    run = subprocess.Popen(
        ["nohup", *HEDGEROW, "local", *TRAIN], cwd=box.folder, env={**os.environ, "STEPS": "3000"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    box.until(lambda: box.paths.live.exists() and bool(box.ranks()))
    run.send_signal(signal.SIGHUP)
    box.said("stop")
    output, _ = run.communicate(timeout=120)
    assert "the terminal is gone" not in output
    assert "default/train is stopped" in output


def test_a_terminal_that_nobody_reads_holds_nothing_up(box: OneBox) -> None:
    box.set(STEPS="150", HANG_RANK="1")
    box.terminal("local", "--nproc", "2", "-o", "wide", *TRAIN)  # a broken connection that nobody has noticed yet
    box.until(lambda: bool(box.paths.objects()) and is_true(box.job().status.conditions, SUCCEEDED), seconds=120)
    assert box.job().status.restarts == 1
    box.until(lambda: box.supervisor() is None)


def test_output_to_a_file_goes_on_when_the_terminal_is_gone(box: OneBox) -> None:
    box.set(STEPS="60")
    told = box.folder / "told.json"
    terminal = box.terminal("local", "-o", "json", *TRAIN, stdout=told)
    box.until(lambda: told.exists() and '"state":"Running"' in told.read_text())
    terminal.hang_up()
    assert terminal.wait() == 0
    assert json.loads(told.read_text().splitlines()[-1])["status"]["state"] == "Succeeded"
    assert "default/train succeeded" in box.log()
