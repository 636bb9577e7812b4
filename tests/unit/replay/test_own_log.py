"""Logs that Hedgerow's own launcher wrote: whole jobs as they were printed, and what they tell."""

from __future__ import annotations

import pytest

from hedgerow.logs import launcher_lines as lines
from hedgerow_operator.replay.shown import as_object
from hedgerow_operator.replay.training import TrainingReplay


def said(template: str, *fields: object) -> str:
    return f"{lines.PREFIX}{template % fields}\n"


def ready(workers: int = 1) -> str:
    return "".join(said(lines.READY, worker, workers, 2) for worker in range(workers))


def steps(first: int, last: int) -> str:
    return "".join(f"step {step} loss 1.25\n" for step in range(first, last + 1))


def ended(attempt: int, *codes: int) -> str:
    exits = "".join(said(lines.RANK_ENDED, rank, code) for rank, code in enumerate(codes))
    return exits + said(lines.ALL_ENDED, attempt)


def begun(attempt: int, resumed: str = "") -> str:
    return said(lines.STARTS, attempt, resumed and f" from {resumed}")


def stopped(attempt: int, reason: str = "") -> str:
    return said(lines.STOPPED, attempt, reason and f": {reason}")


def replay(text: str) -> dict[str, object]:
    session = TrainingReplay()
    session.feed(text.encode())
    return as_object(session.finish())


HEALED = (
    ready() + begun(1) + steps(1, 36) + stopped(1, "NoProgress") + ended(1, 137, 137) + begun(2, "/c/20")
    + steps(21, 60) + ended(2, 0, 0)
)

# Each: the log, its outcome and reason, the kinds of its incidents and their ranks.
JOBS = {
    "a job that goes through at once": (
        ready() + begun(1) + steps(1, 9) + ended(1, 0, 0), "Succeeded", "AllRanksFinished", []),
    "a stall that was healed": (HEALED, "Succeeded", "AllRanksFinished", [("Stall", [], "Restart")]),
    "a rank that fails, and the next attempt that goes through": (
        ready() + begun(1) + steps(1, 9) + said(lines.RANK_ENDED, 1, 1) + stopped(1, "RankExited")
        + ended(1, 143) + begun(2) + steps(1, 9) + ended(2, 0, 0),
        "Succeeded", "AllRanksFinished", [("Failure", [1], "Restart")]),
    "a rank that fails for good": (
        ready() + begun(1) + steps(1, 9) + said(lines.RANK_ENDED, 1, 1) + stopped(1, "RankExited") + ended(1, 143),
        "Failed", "RankExited", [("Failure", [1], "Restart")]),
    "a command that cannot be started": (
        ready() + begun(1) + said(lines.CANNOT_START, "pyton3", "No such file or directory"),
        "Failed", "RankExited", [("Failure", [], "Restart")]),
    "a command that ends badly before it has started a rank": (
        ready() + begun(1) + said(lines.COMMAND_ENDED, 2) + said(lines.ALL_ENDED, 1),
        "Failed", "RankExited", [("Failure", [], "Restart")]),
    "a command that ends badly because its rank did": (
        ready() + begun(1) + steps(1, 9) + said(lines.COMMAND_ENDED, 1) + said(lines.RANK_ENDED, 1, 1) + ended(1),
        "Failed", "RankExited", [("Failure", [1], "Restart")]),
    "a command that ends well after its ranks": (
        ready() + begun(1) + steps(1, 9) + said(lines.RANK_ENDED, 0, 0) + said(lines.COMMAND_ENDED, 0) + ended(1, 0, 0),
        "Succeeded", "AllRanksFinished", []),
    "a job that is suspended": (
        ready() + begun(1) + steps(1, 9) + stopped(1, "Suspending") + ended(1, 143, 143),
        "Cancelled", "Suspending", []),
    "a stall after which the operator gave up": (
        ready() + begun(1) + steps(1, 9) + stopped(1, "NoProgress") + ended(1, 137, 137),
        "Failed", "NoProgress", [("Stall", [], "Restart")]),
    "a launcher that was asked to end": (
        ready() + begun(1) + steps(1, 9) + said(lines.ASKED_TO_END) + ended(1, 143, 143), "Cancelled", "Cancelled", []),
    "two launchers that are through": (
        ready(2) + begun(1) + steps(1, 9) + ended(1, 0, 0) + ended(1, 0, 0), "Succeeded", "AllRanksFinished", []),
    "two launchers, of which one is through and the other is not": (
        ready(2) + begun(1) + steps(1, 9) + ended(1, 0, 0) + said(lines.RANK_ENDED, 3, 1),
        "Failed", "RankExited", [("Failure", [3], "Restart")]),
}


@pytest.mark.parametrize("case", JOBS)
def test_the_log_of(case: str) -> None:
    text, outcome, reason, incidents = JOBS[case]
    found = replay(text)
    assert (found["outcome"], found["reason"]) == (outcome, reason)
    shown = [(entry["kind"], entry["ranks"], entry["action"]) for entry in found["incidents"]]  # type: ignore[attr-defined]
    assert shown == incidents


def test_the_steps_of_every_attempt_count_and_those_that_are_done_again_are_done_twice() -> None:
    assert replay(HEALED)["steps"] == 36 + 40


def falling(first: int, last: int) -> str:
    return "".join(f"step {step} loss {2.5 / step:.4f}\n" for step in range(first, last + 1))


LOSSES = {
    "a job that goes back to where its loss was higher": (
        begun(1) + falling(1, 200) + stopped(1, "NoProgress") + begun(2, "/c/20") + falling(21, 60), []),
    "a job whose loss jumps within an attempt": (
        begun(1) + falling(1, 60) + "step 61 loss 9.5\n" + falling(62, 70), ["loss-spike"]),
    "a job whose loss jumps some time after it was started again": (
        begun(1) + falling(1, 60) + begun(2, "/c/20") + falling(21, 60) + "step 61 loss 9.5\n", ["loss-spike"]),
}


@pytest.mark.parametrize("case", LOSSES)
def test_the_alarms_of(case: str) -> None:
    text, alarms = LOSSES[case]
    assert [alarm["name"] for alarm in replay(ready() + text)["alarms"]] == alarms  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "words",
    ["hedgerow: attempt starts", "hedgerow: rank x ended with exit code 1", "rank 1 ended with exit code 1"],
)
def test_a_line_that_only_resembles_one_of_the_launcher_is_none(words: str) -> None:
    assert lines.parse(words) is None


TEMPLATES = [value for value in vars(lines).values() if isinstance(value, str) and "%" in value]


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_line_that_the_launcher_writes_is_read_again(template: str) -> None:
    fields = ["'x y'" if letter == "r" else ": why" if letter == "s" else 7 for letter in _letters(template)]
    words = lines.PREFIX + (template.replace("%r", "%s") % tuple(fields))
    assert lines.parse(words) == (template, tuple(str(field) for field in fields))


def _letters(template: str) -> list[str]:
    return [piece[0] for piece in template.split("%")[1:]]
