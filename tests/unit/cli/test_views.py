"""How a local run is shown."""

import json

import pytest

from hedgerow_operator.api.metadata import ObjectMeta
from hedgerow_operator.api.spec import TrainingJobSpec
from hedgerow_operator.api.status import CheckpointStatus, Condition, Incident, RanksStatus, TrainingJobStatus
from hedgerow_operator.api.training_job import TrainingJob
from hedgerow_operator.cli.outcome import exit_code, is_at_rest, verdict
from hedgerow_operator.cli.output import write
from hedgerow_operator.cli.views.columns import age, table
from hedgerow_operator.cli.views.json_lines import JSONLines
from hedgerow_operator.cli.views.lines import Lines
from hedgerow_operator.cli.views.story_text import verdict as story_verdict
from hedgerow_operator.cli.views.table import Table
from hedgerow_operator.core.plan import Event

NOW = 1_700_000_200.0


def job(name: str = "run", suspend: bool = False, **status: object) -> TrainingJob:
    return TrainingJob(
        metadata=ObjectMeta(name=name, creation_timestamp="2023-11-14T22:13:20Z"),
        spec=TrainingJobSpec(workers=1, ranks_per_worker=4, suspend=suspend),
        status=TrainingJobStatus(**status),  # type: ignore[arg-type]
    )


def condition(kind: str, status: str = "True", reason: str = "Because") -> Condition:
    return Condition(type=kind, status=status, reason=reason, message="it is so")  # type: ignore[arg-type]


TRAINING = job(
    state="Running",
    reason="Training",
    step=37,
    ranks=RanksStatus(expected=4, reporting=4, summary="4/4"),
    restarts=1,
    checkpoint=CheckpointStatus(step=30, path="/c", time="", verified=True),
    goodput_percent=91,
    attempt=2,
)


def test_the_columns_are_those_of_kubectl() -> None:
    assert table([TRAINING, job("fresh")], wide=False, now=NOW) == [
        "NAME   STATE    REASON    STEP  RANKS  RESTARTS  CHECKPOINT  GOODPUT  AGE",
        "run    Running  Training  37    4/4    1         30          91       3m20s",
        "fresh                                  0                              3m20s",
    ]


def test_wide_adds_namespace_attempt_and_incident() -> None:
    header, row = table([TRAINING], wide=True, now=NOW)
    assert header.split() == [
        "NAMESPACE",
        *["NAME", "STATE", "REASON", "STEP", "RANKS", "RESTARTS", "CHECKPOINT", "GOODPUT", "AGE"],
        "ATTEMPT",
        "INCIDENT",
    ]
    assert row.split()[0] == "default"
    assert row.split()[-1] == "2"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0s"), (119, "119s"), (120, "2m0s"), (10799, "179m59s"), (10800, "3h0m"), (200000, "2d7h")],
)
def test_ages_are_short(seconds: float, text: str) -> None:
    assert age(seconds) == text


def test_a_line_for_each_event_and_each_change_of_a_condition_and_for_nothing_else() -> None:
    written: list[str] = []
    lines = Lines(lambda: NOW, written.append)
    lines.changed(job(conditions=(condition("Running", "False"), condition("Failed", "False"))))
    assert written == []
    lines.changed(job(conditions=(condition("Running"), condition("Failed", "False"))))
    lines.changed(job(conditions=(condition("Running"), condition("Failed", "False")), step=7))
    lines.happened(job(), Event(reason="AttemptStarted", message="attempt 1 starts"))
    assert written == [
        "2023-11-14T22:16:40Z default/run Running=True Because: it is so\n",
        "2023-11-14T22:16:40Z default/run AttemptStarted: attempt 1 starts\n",
    ]


def test_json_is_one_whole_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    view = JSONLines(write)
    view.changed(TRAINING)
    view.note("a word about the run")
    captured = capsys.readouterr()
    (line,) = captured.out.splitlines()
    assert json.loads(line)["status"]["checkpoint"]["step"] == 30
    assert captured.err == "hedgerow: a word about the run\n"


def test_the_table_is_rewritten_in_place_and_events_stay_above_it() -> None:
    written: list[str] = []
    view = Table(lambda: NOW, written.append, wide=False)
    view.changed(TRAINING)
    view.happened(TRAINING, Event(reason="AttemptStarted", message="attempt 2 starts"))
    first, second = written
    assert first.count("\n") == 2
    assert "\x1b[2A" not in first
    assert second.startswith("\x1b[2A2023-11-14T22:16:40Z default/run AttemptStarted: attempt 2 starts\x1b[K\n")
    assert screen(written) == [
        "2023-11-14T22:16:40Z default/run AttemptStarted: attempt 2 starts",
        *table([TRAINING], wide=False, now=NOW),
    ]


def screen(written: list[str]) -> list[str]:
    """What a terminal shows after these writes."""
    lines, row = [""], 0
    for text in written:
        while text:
            if text.startswith("\x1b["):
                end = next(index for index, letter in enumerate(text) if letter.isalpha())
                code, text = text[2 : end + 1], text[end + 1 :]
                if code.endswith("A"):
                    row -= int(code[:-1])
                elif code == "J":
                    del lines[row + 1 :]
                    lines[row] = ""
                continue
            if text[0] == "\n":
                row, text = row + 1, text[1:]
                lines += [""] * (row + 1 - len(lines))
                continue
            stop = min((text.index(mark) for mark in "\n\x1b" if mark in text), default=len(text))
            lines[row], text = text[:stop], text[stop:]
    return lines[:row]


def test_the_exit_code_is_0_only_if_every_job_succeeded() -> None:
    good, bad = job(conditions=(condition("Succeeded"),)), job(conditions=(condition("Failed"),))
    assert [exit_code(jobs) for jobs in ([good], [good, good], [good, bad], [good, TRAINING])] == [0, 0, 1, 1]


def test_a_suspended_job_is_at_rest_only_while_it_is_asked_to_be_suspended() -> None:
    suspended = (condition("Suspended"),)
    assert is_at_rest(job(suspend=True, conditions=suspended))
    assert not is_at_rest(job(suspend=False, conditions=suspended))
    assert not is_at_rest(job(suspend=True))
    assert is_at_rest(job(conditions=(condition("Failed"),)))


def test_the_end_of_a_run_says_why() -> None:
    failed = job(conditions=(condition("Failed", reason="ApplicationFault"),))
    assert verdict(failed) == "default/run failed (ApplicationFault): it is so"
    assert "goes on from its last valid checkpoint" in verdict(job(conditions=(condition("Suspended"),), step=12))


def test_the_story_names_nobody_when_nobody_is_guilty() -> None:
    incident = Incident(kind="NoProgress", opened_at="", attempt=1, reason="NoProgress", action="attempt 2 starts")
    assert "Guilty: no single rank" in story_verdict(incident)
