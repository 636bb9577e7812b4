"""Pretended jobs and what a replay of their logs says."""

from collections.abc import Callable

import pytest

from tests.unit.replay.logs import START, Log, kinds


def regular_pauses() -> Log:
    log = Log().steps(30)
    for _ in range(12):
        log.steps(499 if log.step > 30 else 469).silence(45.0).steps(1)
    return log


def pauses_by_the_clock() -> Log:
    log = Log().steps(40)
    for turn in range(8):
        log.steps(250 + 7 * (turn % 2)).silence(60.0).steps(1)
    return log


def evaluations() -> Log:
    log = Log().steps(20)
    for _ in range(6):
        log.steps(50).phase("eval", 300.0)
    return log


def growing_batch() -> Log:
    return Log().steps(200, 1.0, batch_size=256).steps(200, 2.0, batch_size=512)


HEALTHY: dict[str, tuple[Callable[[], Log], int]] = {
    "steady steps": (lambda: Log().steps(500), 0),
    "a cold first step": (lambda: Log().steps(1).silence(600.0).steps(1).steps(100), 0),
    "evaluations that are declared": (evaluations, 0),
    "steps that take longer as the batch grows": (growing_batch, 0),
    "a pause every 500 steps, told of once": (regular_pauses, 1),
    "a pause every few minutes, told of twice": (pauses_by_the_clock, 2),
}


@pytest.mark.parametrize("case", HEALTHY)
def test_a_healthy_job_is_never_restarted(case: str) -> None:
    make, most = HEALTHY[case]
    found = make().replay()
    assert len(found["incidents"]) <= most
    assert {action for _kind, action in kinds(found)} <= {"Alert"}


def test_a_hang_after_regular_pauses_is_still_found_soon() -> None:
    log = regular_pauses().steps(100)
    incident = log.replay(gap_seconds=600.0)["incidents"][-1]
    assert incident["closedAtMillis"] is None
    assert incident["openedAtMillis"] - incident["lastProgressMillis"] <= 10_100


def test_a_stall_is_alerted_of_then_restarted_and_has_one_incident() -> None:
    (incident,) = Log().steps(100).replay(gap_seconds=3600.0)["incidents"]
    assert (incident["kind"], incident["phase"], incident["action"]) == ("Stall", "step", "Restart")
    assert incident["lastProgressMillis"] == 1000 * (START + 100)
    assert incident["openedAtMillis"] < incident["actionAtMillis"]
    assert "nothing has progressed since 22:15:00 UTC in phase step at step 100" in incident["message"]


def test_what_has_not_been_saved_makes_waiting_longer() -> None:
    saved = Log().steps(400).phase("checkpoint", 2.0).steps(10).replay(gap_seconds=3600.0)["incidents"][-1]
    unsaved = Log().steps(411).replay(gap_seconds=3600.0)["incidents"][-1]
    waits = [entry["actionAtMillis"] - entry["lastProgressMillis"] for entry in (saved, unsaved)]
    assert waits[0] < waits[1]


def test_few_steps_are_no_ground_to_judge_silence_by() -> None:
    assert Log().steps(3).silence(2800.0).steps(1).replay()["incidents"] == []


def test_a_start_is_told_of_at_the_limit_of_the_spec() -> None:
    log = Log()
    log.write(step=0, phase="init")
    (incident,) = log.replay(gap_seconds=2000.0)["incidents"]
    assert round(incident["openedAtMillis"] - incident["lastProgressMillis"], -3) == 1_800_000


def test_a_stall_that_ends_in_a_crash_stays_one_incident() -> None:
    log = Log().steps(100)
    log.say("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2023-11-14T22:15:40 DUE TO NODE FAILURE ***")
    found = log.replay()
    (incident,) = found["incidents"]
    assert (found["outcome"], incident["kind"], incident["class"]) == ("Failed", "Stall", "Hardware")
    assert incident["openedAtMillis"] < 1000 * (START + 140)
    assert (incident["action"], incident["actionAtMillis"]) == ("Restart", 1000 * (START + 140))


def test_a_slowdown_opens_and_closes_once() -> None:
    found = Log().steps(300).steps(200, 1.3).steps(200).replay()
    assert kinds(found) == [("Slowdown", "Alert")]
    incident = found["incidents"][0]
    assert incident["closedAtMillis"] > incident["openedAtMillis"]
    assert "30 % longer" in incident["message"]


def test_a_run_that_goes_on_after_an_exception_has_no_incident() -> None:
    log = Log().steps(50).say("ValueError: could not log to the tracker").steps(50)
    assert log.replay()["incidents"] == []


def test_a_run_that_starts_again_after_a_crash_shows_a_closed_failure() -> None:
    log = Log().steps(50).say("[rank2]: RuntimeError: CUDA error: an illegal memory access")
    log.step = 40
    (incident,) = log.silence(60.0).steps(30).replay()["incidents"]
    assert (incident["kind"], incident["ranks"], incident["closedAtMillis"] is None) == ("Failure", [2], False)


def test_nan_loss_is_an_alarm_for_as_long_as_it_lasts() -> None:
    found = Log().steps(20, loss=2.0).steps(5, loss=float("nan")).steps(5, loss=2.0).replay()
    (alarm,) = found["alarms"]
    assert (alarm["name"], alarm["closedAtMillis"] - alarm["openedAtMillis"]) == ("nan-loss", 5000)


def test_memory_that_grows_is_an_alarm() -> None:
    log = Log()
    for number in range(200):
        log.steps(1, memory=1e9 + 1e7 * number)
    assert [alarm["name"] for alarm in log.replay()["alarms"]] == ["memory-leak"]


def test_a_replay_never_looks_ahead() -> None:
    log = Log().steps(100).silence(60.0).steps(20)
    whole = log.replay()["incidents"][0]
    log.lines = log.lines[:101]
    assert log.replay()["incidents"][0]["openedAtMillis"] == whole["openedAtMillis"]


def test_a_job_may_be_silent_after_its_last_word() -> None:
    stop = ':::MLLOG {"time_ms": 1700000050000, "key": "run_stop", "metadata": {"status": "success"}}'
    log = Log().steps(50).say(stop)
    found = log.replay(gap_seconds=7200.0)
    assert (found["outcome"], found["incidents"]) == ("Succeeded", [])


def test_an_empty_log_is_unknown() -> None:
    assert (Log().replay()["outcome"], Log().replay(gap_seconds=900.0)["incidents"]) == ("Unknown", [])


def test_ranks_that_tell_of_the_same_steps_are_one_job() -> None:
    log = Log()
    for step in range(1, 101):
        log.now += 1.0
        for rank in (0, 1, 2):
            log.write(step=max(1, step - rank), rank=rank)
    found = log.replay()
    assert (found["steps"], found["incidents"]) == (100, [])
