"""How a local run is shown: table, rows, JSON."""

import json

import msgspec
import pytest

from hedgerow_operator.api.status import RanksStatus
from hedgerow_operator.cli.output import complain, write
from hedgerow_operator.cli.views.json_lines import JSONLines
from hedgerow_operator.cli.views.live_columns import live_table
from hedgerow_operator.cli.views.rows import Rows
from hedgerow_operator.cli.views.table import Table
from hedgerow_operator.core.plan import Event
from tests.unit.cli.builders import NOW, TRAINING, job


def test_json_is_one_whole_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    view = JSONLines(write, complain)
    view.changed(TRAINING)
    view.note("a word about the run")
    captured = capsys.readouterr()
    (line,) = captured.out.splitlines()
    assert json.loads(line)["status"]["checkpoint"]["step"] == 30
    assert captured.err == "hedgerow: a word about the run\n"


def test_json_begins_with_an_object_that_has_a_state_and_repeats_none(capsys: pytest.CaptureFixture[str]) -> None:
    view = JSONLines(write, complain)
    view.changed(job())
    view.changed(TRAINING)
    view.changed(TRAINING)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["status"]["state"] == "Running"


def test_wide_rows_in_a_pipe_come_with_one_header_and_not_for_goodput_alone(capsys: pytest.CaptureFixture[str]) -> None:
    view = Rows(lambda: NOW, write, complain)
    later = msgspec.structs.replace(TRAINING.status, goodput_percent=92)
    further = msgspec.structs.replace(later, step=38)
    view.changed(job())
    for status in (TRAINING.status, later, further):
        view.changed(msgspec.structs.replace(TRAINING, status=status))
    view.note("a word about the run")
    shown = capsys.readouterr()
    assert [line.split()[:5] for line in shown.out.splitlines()] == [
        ["NAMESPACE", "NAME", "STATE", "REASON", "STEP"],
        ["default", "run", "Running", "Training", "37"],
        ["default", "run", "Running", "Training", "38"],
    ]
    assert shown.err == "hedgerow: a word about the run\n"


def test_the_table_follows_what_was_heard_between_two_writes() -> None:
    written: list[str] = []
    view = Table(lambda: NOW, written.append, wide=False)
    view.changed(TRAINING)
    heard = msgspec.structs.replace(TRAINING, status=msgspec.structs.replace(TRAINING.status, step=41))
    view.moved(heard, "eval")
    assert screen(written) == live_table([(heard, "eval")], False, NOW, 80)


def test_a_phase_is_forgotten_with_the_ranks_that_were_in_it() -> None:
    written: list[str] = []
    view = Table(lambda: NOW, written.append, wide=False)
    view.moved(TRAINING, "eval")
    gone = RanksStatus(expected=4, reporting=0, summary="0/4")
    stopped = msgspec.structs.replace(TRAINING, status=msgspec.structs.replace(TRAINING.status, ranks=gone))
    view.changed(stopped)
    assert screen(written) == live_table([(stopped, "")], False, NOW, 80)


def test_the_table_is_rewritten_in_place_and_events_stay_above_it() -> None:
    written: list[str] = []
    view = Table(lambda: NOW, written.append, wide=False)
    view.changed(TRAINING)
    view.happened(TRAINING, Event(reason="AttemptStarted", message="attempt 2 starts"))
    first, second = written
    assert first.count("\n") == 2
    assert "\x1b[2A" not in first
    assert second.startswith("\r\x1b[2A2023-11-14T22:16:40Z default/run AttemptStarted: attempt 2 starts\x1b[K\n")
    assert screen(written) == [
        "2023-11-14T22:16:40Z default/run AttemptStarted: attempt 2 starts",
        *live_table([(TRAINING, "")], False, NOW, 80),
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
            if text[0] == "\r":
                text = text[1:]
                continue
            stop = min((text.index(mark) for mark in "\r\n\x1b" if mark in text), default=len(text))
            lines[row], text = text[:stop], text[stop:]
    return lines[:row]
