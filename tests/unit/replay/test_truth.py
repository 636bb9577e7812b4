"""Every labelled log that others published, and the right answer to each."""

import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.replay.shown import as_object
from hedgerow_operator.replay.training import TrainingReplay
from hedgerow_operator.replay.workers import as_object as workers_object
from hedgerow_operator.replay.workers import read_samples, replay_workers

pytestmark = pytest.mark.shared_data

LOGS = "training_logs"


def replay(path: Path, gap_seconds: float = 0.0) -> dict[str, Any]:
    """What ``hedgerow replay training`` prints for a log."""
    session = TrainingReplay()
    session.feed(path.read_bytes())
    return as_object(session.finish(gap_seconds))


def truth(shared_data: Path, name: str) -> dict[str, Any]:
    """The case of this name, as the authors of the data describe it."""
    cases = json.loads((shared_data / "cases" / "training_log_truth.json").read_text())
    (case,) = [case for case in cases if case["id"] == name]
    return dict(case)


# Outcome, reason, and how many incidents at least and at most.
ANSWERS: dict[str, tuple[str, str, int, int]] = {
    "L03": ("Succeeded", "AllRanksFinished", 1, 1),
    "L04": ("Succeeded", "AllRanksFinished", 0, 0),
    "L05": ("Succeeded", "AllRanksFinished", 0, 1),
    "L06": ("Succeeded", "AllRanksFinished", 1, 1),
    "L09": ("Succeeded", "AllRanksFinished", 2, 2),
    "L10": ("Succeeded", "AllRanksFinished", 0, 1),
    "L12": ("Cancelled", "Cancelled", 0, 0),
    "L16": ("Failed", "ApplicationFault", 1, 1),
    "L18": ("Succeeded", "TargetNotReached", 0, 0),
    "L19": ("Succeeded", "TargetNotReached", 0, 0),
    "L21": ("Succeeded", "AllRanksFinished", 0, 1),
    "L23": ("Succeeded", "AllRanksFinished", 0, 0),
    "L26": ("Succeeded", "AllRanksFinished", 0, 0),
    "B03": ("Truncated", "NotFinished", 0, 0),
    "B04": ("Failed", "RankExited", 1, 1),
    "D01": ("Truncated", "NotFinished", 0, 0),
}
CRASHES = {"L16": ("GiveUp", "Application", []), "B04": ("Restart", "Hardware", [])}


@pytest.mark.parametrize("name", ANSWERS)
def test_outcome_and_number_of_alerts(shared_data: Path, name: str) -> None:
    found = replay(shared_data / truth(shared_data, name)["file"])
    outcome, reason, least, most = ANSWERS[name]
    assert (found["outcome"], found["reason"]) == (outcome, reason)
    assert least <= len(found["incidents"]) <= most


@pytest.mark.parametrize("name", sorted(set(ANSWERS) - set(CRASHES)))
def test_nothing_that_recovers_by_itself_is_restarted(shared_data: Path, name: str) -> None:
    found = replay(shared_data / truth(shared_data, name)["file"])
    assert {incident["action"] for incident in found["incidents"]} <= {"Alert"}
    assert all(incident["closedAtMillis"] for incident in found["incidents"])


@pytest.mark.parametrize("name", CRASHES)
def test_crash(shared_data: Path, name: str) -> None:
    (incident,) = replay(shared_data / truth(shared_data, name)["file"])["incidents"]
    assert (incident["kind"], incident["action"], incident["class"], incident["ranks"]) == ("Failure", *CRASHES[name])


def test_a_crash_names_the_process_where_the_log_tells_no_rank(shared_data: Path) -> None:
    (incident,) = replay(shared_data / truth(shared_data, "B04")["file"])["incidents"]
    assert "[default3]" in incident["message"]


@pytest.mark.parametrize("name", ["L03", "L21"])
def test_a_stall_is_told_of_before_it_ends_and_closed_when_it_does(shared_data: Path, name: str) -> None:
    case = truth(shared_data, name)
    (incident,) = replay(shared_data / case["file"])["incidents"]
    assert incident["lastProgressMillis"] == case["truth"]["last_progress_ms"]
    assert incident["closedAtMillis"] == case["truth"]["recovered_ms"]
    usual = case["truth"].get("normal_interval_s", 0.48)
    assert incident["openedAtMillis"] - incident["lastProgressMillis"] <= 1000 * max(10.1, 4 * usual)


def test_the_first_of_two_stalls_is_told_of_within_four_usual_intervals(shared_data: Path) -> None:
    case = truth(shared_data, "L09")
    incidents = replay(shared_data / case["file"])["incidents"]
    lengths = [(entry["closedAtMillis"] - entry["lastProgressMillis"]) / 1000 for entry in incidents]
    assert lengths == pytest.approx(case["truth"]["gap_s"], abs=0.1)
    late = incidents[0]["openedAtMillis"] - incidents[0]["lastProgressMillis"]
    assert late <= 4000 * case["truth"]["normal_s"]


@pytest.mark.parametrize("name", [
    "v41_dell_32gpu_llama2_run2_healthy.txt", "v41_dell_8gpu_sd_run8_healthy.txt",
    "v40_lenovo_8gpu_resnet_run2_healthy.txt", "v51_dell_8gpu_rgat_run6_healthy.txt",
])
def test_a_healthy_log_has_no_incident_and_no_alarm(shared_data: Path, name: str) -> None:
    found = replay(shared_data / LOGS / name)
    assert (found["outcome"], found["incidents"], found["alarms"]) == ("Succeeded", [], [])


def test_a_loss_spike_is_an_alarm_and_neither_a_stall_nor_a_slowdown(shared_data: Path) -> None:
    alarms = replay(shared_data / truth(shared_data, "B03")["file"])["alarms"]
    assert {alarm["name"] for alarm in alarms} == {"loss-spike", "gradient-spike"}
    assert all(alarm["closedAtMillis"] for alarm in alarms)


@pytest.mark.parametrize("name", ["L12", "L16", "L18", "B04"])
def test_silence_after_the_end_is_no_stall(shared_data: Path, name: str) -> None:
    path = shared_data / truth(shared_data, name)["file"]
    assert replay(path, 7200.0) == replay(path)


def test_a_job_that_never_goes_on_is_restarted_once_waiting_has_cost_as_much(
    shared_data: Path, tmp_path: Path
) -> None:
    case = truth(shared_data, "L03")
    whole = (shared_data / case["file"]).read_bytes()
    cut = whole.index(b'"samples_count": 2240')
    path = tmp_path / "cut.txt"
    path.write_bytes(whole[: whole.rindex(b"\n", 0, cut) + 1])
    (incident,) = replay(path, 3600.0)["incidents"]
    assert (incident["kind"], incident["action"], incident["closedAtMillis"]) == ("Stall", "Restart", None)
    assert 60 <= (incident["actionAtMillis"] - incident["lastProgressMillis"]) / 1000 <= 1801
    (shorter,) = replay(path, 60.0)["incidents"]
    assert (shorter["action"], shorter["openedAtMillis"]) == ("Alert", incident["openedAtMillis"])


def test_steady_differences_between_workers_are_no_incident(shared_data: Path) -> None:
    with (shared_data / truth(shared_data, "P02")["file"]).open() as table:
        assert workers_object(replay_workers(read_samples(table))) == {"incidents": []}


def test_two_workers_that_become_slow_at_last_are_named_and_no_other(shared_data: Path) -> None:
    with (shared_data / truth(shared_data, "P04")["file"]).open() as table:
        (incident,) = workers_object(replay_workers(read_samples(table)))["incidents"]
    assert incident["workers"] == [5, 6]
    assert 18_500 <= incident["openedAtSample"] <= 18_900
