"""What a pipe is told: each piece of news once, and nothing that goes without saying."""

from collections.abc import Callable, Sequence

import pytest

from hedgerow_operator.api.status import Condition
from hedgerow_operator.cli.views.lines import SETTLED_SECONDS, Lines
from hedgerow_operator.core.plan import Event
from tests.unit.cli.builders import NOW, condition, job

STALL = "no rank has progressed for 3.2 s; rank 2 never reached step 37. attempt 2 starts in place"
FAULT = "rank 1 exited with code 1 at step 5: ValueError: x"
SUCCESS = "all ranks of attempt 1 ended with exit code 0"


class Pipe:
    """Lines on a pretended clock."""

    def __init__(self) -> None:
        self.now = NOW
        self.texts: list[str] = []
        self.lines = Lines(lambda: self.now, lambda text: self.texts.append(text.split(" ", 1)[1].rstrip("\n")))

    def stored(self, *conditions: Condition, **fields: object) -> None:
        self.lines.changed(job(conditions=conditions, **{"attempt": 1, **fields}))  # type: ignore[arg-type]

    def event(self, reason: str, message: str, suspend: bool = False) -> None:
        self.lines.happened(job(suspend=suspend), Event(reason=reason, message=message))

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        self.lines.tick()


def stall(pipe: Pipe) -> None:
    stopping = condition("Running", "False", "Restarting", f"attempt 1 is being stopped: {STALL[:60]}")
    pipe.stored(stopping, condition("Stalled", "True", "NoProgress", STALL))
    pipe.event("NoProgress", STALL)
    pipe.stored(condition("Running", "False", "Starting"), condition("Stalled", "False", "NotMeasured", "no attempt"))
    pipe.stored(condition("Running", reason="Training"), condition("Stalled", "Unknown", "NotMeasured", "no rank yet"))
    pipe.stored(condition("Running", reason="Training"), condition("Stalled", "False", "Healthy", "fine"))


def begin(pipe: Pipe) -> None:
    pipe.stored(condition("Running", "False", "WaitingForWorkers", "1 of 1 workers are missing"))
    pipe.stored(
        condition("Running", reason="Training", message="4 of 4 ranks run"),
        condition("Stalled", "Unknown", "NotMeasured", "no rank has reported yet"),
    )
    pipe.stored(condition("Running", reason="Training"), condition("Stalled", "False", "Healthy", "every rank is fine"))


def suspect(pipe: Pipe) -> None:
    pipe.stored(condition("Stalled", "Unknown", "Suspect", "no rank has progressed"))
    pipe.stored(condition("Stalled", "False", "Healthy", "every rank makes progress"))


def wait_for_long(pipe: Pipe) -> None:
    pipe.stored(condition("Running", "False", "WaitingForWorkers", "1 of 2 workers are missing"))
    pipe.pass_by(SETTLED_SECONDS / 2)
    pipe.stored(condition("Running", "False", "WaitingForWorkers", "1 of 2 workers are missing; worker 1 is Pending"))
    pipe.pass_by(SETTLED_SECONDS / 2)
    pipe.pass_by(SETTLED_SECONDS)


def fail(pipe: Pipe) -> None:
    pipe.stored(condition("Running", "False", "Starting"))
    pipe.event("ApplicationFault", FAULT)
    pipe.stored(condition("Failed", reason="ApplicationFault", message=FAULT))


def succeed(pipe: Pipe) -> None:
    ended = condition("Running", "False", "AllRanksFinished", "the job has ended")
    pipe.stored(ended, condition("Succeeded", reason="AllRanksFinished", message=SUCCESS))
    pipe.event("AllRanksFinished", "all ranks 0 to 3 finished")
    pipe.pass_by(2 * SETTLED_SECONDS)


def fail_at_once(pipe: Pipe) -> None:
    pipe.stored(condition("Running", reason="Ending", message="0 of 2 ranks run"))
    pipe.event("ApplicationFault", FAULT)
    pipe.stored(condition("Failed", reason="ApplicationFault", message=FAULT))


def fail_twice(pipe: Pipe) -> None:
    for attempt in (1, 2):
        pipe.stored(condition("Running", reason="Training"), attempt=attempt)
        pipe.event("RankExited", FAULT)


def interrupt(pipe: Pipe) -> None:
    pipe.event("Suspending", "spec.suspend is true")
    pipe.stored(condition("Running", "False", "Suspended"), condition("Suspended", reason="Suspended"))


def suspend(pipe: Pipe) -> None:
    pipe.event("Suspending", "spec.suspend is true", suspend=True)
    pipe.lines.changed(job(suspend=True, conditions=(condition("Suspended", reason="Suspended", message="paused"),)))


TOLD: dict[str, tuple[Callable[[Pipe], None], Sequence[str]]] = {
    "a stall and the restart after it": (
        stall,
        [f"Stalled=True NoProgress: {STALL}", "Running=True Training: it is so"],
    ),
    "a start that goes well": (begin, ["Running=True Training: 4 of 4 ranks run"]),
    "a suspicion that clears": (
        suspect,
        ["Stalled=Unknown Suspect: no rank has progressed", "Stalled=False Healthy: every rank makes progress"],
    ),
    "a hindrance that lasts": (
        wait_for_long,
        ["Running=False WaitingForWorkers: 1 of 2 workers are missing; worker 1 is Pending"],
    ),
    "a job that fails": (fail, [f"ApplicationFault: {FAULT}", "Failed=True ApplicationFault"]),
    "a job that fails before it trains": (fail_at_once, [f"ApplicationFault: {FAULT}", "Failed=True ApplicationFault"]),
    "a job that succeeds": (succeed, [f"Succeeded=True AllRanksFinished: {SUCCESS}"]),
    "the same fault in two attempts": (
        fail_twice,
        [
            "Running=True Training: it is so",
            f"RankExited: {FAULT}",
            "Running=True Training: it is so",
            f"RankExited: {FAULT}",
        ],
    ),
    "a run that is interrupted": (interrupt, []),
    "a job that its spec suspends": (suspend, ["Suspending: spec.suspend is true", "Suspended=True Suspended: paused"]),
}


@pytest.mark.parametrize("case", TOLD)
def test_a_pipe_is_told_once_of(case: str) -> None:
    happens, expected = TOLD[case]
    pipe = Pipe()
    happens(pipe)
    assert pipe.texts == [f"default/run {text}" for text in expected]


def test_each_line_begins_with_its_time_and_what_it_is_about() -> None:
    written: list[str] = []
    lines = Lines(lambda: NOW, written.append)
    lines.note("stopping the ranks")
    lines.happened(job(), Event(reason="AttemptStarted", message="attempt 1 starts"))
    assert written == [
        "2023-11-14T22:16:40Z hedgerow stopping the ranks\n",
        "2023-11-14T22:16:40Z default/run AttemptStarted: attempt 1 starts\n",
    ]
