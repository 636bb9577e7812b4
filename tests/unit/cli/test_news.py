"""What somebody who does not look is told, and in which shape."""

import json

import msgspec
import pytest

from hedgerow_operator.api.status import Degradation, HistoryEntry, Incident, TrainingJobStatus
from hedgerow_operator.cli.notify.news import News, news
from hedgerow_operator.cli.notify.notices import Notices
from hedgerow_operator.cli.notify.shape import body, format_of
from tests.unit.cli.builders import NOW, TRAINING, condition

_MOMENT = "2023-11-14T22:13:20Z"
STALL = Incident(
    kind="NoProgress", reason="NoProgress", opened_at=_MOMENT, attempt=1, ranks=(2,), message="no rank has progressed",
    evidence=("no CPU",), action="attempt 2 starts in place",
)  # fmt: skip
CALM = TrainingJobStatus(attempt=1, attempt_stage="Running")
TROUBLED = TrainingJobStatus(attempt=1, attempt_stage="Running", incident=STALL)
STOPPING = TrainingJobStatus(attempt=1, attempt_stage="Stopping", incident=STALL)
_PAST = (HistoryEntry(attempt=1, placement=1, reason="NoProgress", ranks=(2,)),)
GATHERING = TrainingJobStatus(attempt=2, attempt_stage="Gathering", incident=STALL, history=_PAST)
STARTING = TrainingJobStatus(
    attempt=2, attempt_stage="Starting", incident=STALL, history=_PAST, resume_from="/c/20", resume_step=20
)
AGAIN = msgspec.structs.replace(STARTING, attempt_stage="Running", incident=None)
REWORDED = msgspec.structs.replace(TROUBLED, incident=msgspec.structs.replace(STALL, message="still nothing"))
SUSPENDED = TrainingJobStatus(attempt=1, attempt_stage="Suspended", conditions=(condition("Suspended"),))
_BY_HAND = (HistoryEntry(attempt=1, placement=1, reason="Suspended"),)
RESUMED = TrainingJobStatus(attempt=2, attempt_stage="Starting", history=_BY_HAND)
DONE = TrainingJobStatus(attempt=2, conditions=(condition("Succeeded", reason="AllRanksFinished", message="all did"),))
GIVEN_UP = TrainingJobStatus(attempt=2, conditions=(condition("Failed", reason="MaxRestartsExceeded", message="no"),))
SLOW = msgspec.structs.replace(
    CALM,
    degradations=(Degradation(name="s", reason="SlowerThanPeers", opened_at=_MOMENT, attempt=1),),
)

STORIES: dict[str, tuple[list[TrainingJobStatus], list[tuple[str, str]]]] = {
    "a job that only trains": ([CALM, CALM], []),
    "a stall that is healed": (
        [CALM, TROUBLED, REWORDED, STOPPING, GATHERING, STARTING, AGAIN],
        [("IncidentOpened", "NoProgress"), ("Restarted", "NoProgress"), ("IncidentClosed", "NoProgress")],
    ),
    "a stall that ends by itself": (
        [CALM, TROUBLED, CALM],
        [("IncidentOpened", "NoProgress"), ("IncidentClosed", "NoProgress")],
    ),
    "a stall in a job that is stopped": ([TROUBLED, SUSPENDED], [("IncidentClosed", "NoProgress")]),
    "a job that goes on after it was stopped": ([SUSPENDED, RESUMED], []),
    "a job that is given up in its incident": ([TROUBLED, GIVEN_UP, GIVEN_UP], [("GaveUp", "MaxRestartsExceeded")]),
    "a job that succeeds": ([CALM, DONE, DONE], [("Succeeded", "AllRanksFinished")]),
    "a rank that is slow for a while": (
        [CALM, SLOW, SLOW, CALM],
        [("DegradationOpened", "SlowerThanPeers"), ("DegradationClosed", "SlowerThanPeers")],
    ),
    "a slow job that succeeds": ([SLOW, DONE], [("Succeeded", "AllRanksFinished")]),
}


@pytest.mark.parametrize("case", STORIES)
def test_of_this_somebody_is_told_once(case: str) -> None:
    statuses, expected = STORIES[case]
    sent: list[dict[str, object]] = []
    notices = Notices(sent.append, "json", lambda: NOW)
    for status in statuses:
        notices.changed(msgspec.structs.replace(TRAINING, status=status))
    assert [(entry["event"], entry["reason"]) for entry in sent] == expected


def test_an_incident_is_told_with_the_guilty_rank_and_what_follows() -> None:
    (said,) = news(CALM, TROUBLED)
    assert said.sentence == "no rank has progressed; guilty: rank 2; what follows: attempt 2 starts in place"
    assert (said.ranks, said.evidence) == ((2,), ("no CPU",))


def test_a_restart_is_told_with_the_step_that_it_begins_at() -> None:
    (said,) = news(GATHERING, STARTING)
    assert said.sentence == "attempt 2 starts from step 20"


SAID = News("IncidentOpened", "NoProgress", "rank 2 waits in <lock> & sleeps", (2,), ("no CPU",))


def test_the_generic_shape_is_what_the_readme_describes() -> None:
    sent = body("json", TRAINING, SAID, "box", NOW)
    assert json.loads(json.dumps(sent)) == {
        "version": 1,
        "event": "IncidentOpened",
        "time": "2023-11-14T22:16:40Z",
        "job": {"namespace": "default", "name": "run", "uid": "uid-run"},
        "host": "box",
        "attempt": 2,
        "restarts": 1,
        "step": 37,
        "checkpoint": {"step": 30, "path": "/c"},
        "reason": "NoProgress",
        "message": "rank 2 waits in <lock> & sleeps",
        "ranks": [2],
        "evidence": ["no CPU"],
        "text": "default/run on box is in trouble (NoProgress): rank 2 waits in <lock> & sleeps",
    }


def test_slack_gets_one_escaped_text() -> None:
    assert body("slack", TRAINING, SAID, "box", NOW) == {
        "text": "default/run on box is in trouble (NoProgress): rank 2 waits in &lt;lock&gt; &amp; sleeps"
    }


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("https://hooks.slack.com/services/T/B/x", "slack"),
        ("https://HOOKS.SLACK.COM/services/T/B/x", "slack"),
        ("https://hooks.slack.com.example.org/x", "json"),
        ("http://127.0.0.1:8080/hooks.slack.com", "json"),
    ],
)
def test_the_host_tells_the_shape(url: str, shape: str) -> None:
    assert format_of(url) == shape
