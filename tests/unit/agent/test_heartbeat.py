"""What a rank beats is what the launcher reads, through the mapped file."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import pytest

from hedgerow import record
from hedgerow.heartbeat import Writer
from hedgerow.record import RING_LENGTH, SOURCE_LIBRARY, Boundary


@pytest.fixture
def buffer(tmp_path: Path) -> Any:
    path = tmp_path / "heartbeat"
    record.create(str(path))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), record.SIZE)


def told(buffer: Any) -> list[tuple[int | None, str]]:
    return [(boundary.step, boundary.phase) for boundary in record.read(buffer, 0).boundaries]


BEATS: dict[str, tuple[list[tuple[int | None, str | None]], list[tuple[int | None, str]]]] = {
    "a step is in the phase step": ([(1, None)], [(1, "step")]),
    "a repeated step is no boundary": ([(1, None), (1, None), (2, None)], [(1, "step"), (2, "step")]),
    "a phase keeps the step": ([(7, None), (None, "eval")], [(7, "step"), (7, "eval")]),
    "a repeated phase is no boundary": ([(None, "eval"), (None, "eval")], [(None, "eval")]),
    "the same step after another phase is a boundary": (
        [(7, None), (None, "eval"), (7, None)],
        [(7, "step"), (7, "eval"), (7, "step")],
    ),
    "a bare beat counts by itself": ([(None, None), (None, None)], [(1, "step"), (2, "step")]),
    "a bare beat goes on from a named step": ([(10, None), (None, None)], [(10, "step"), (11, "step")]),
    "steps may go back": ([(9, None), (3, None)], [(9, "step"), (3, "step")]),
    "a long name is cut between characters": ([(1, "é" * 40)], [(1, "é" * 15)]),
}


@pytest.mark.parametrize(("beats", "expected"), BEATS.values(), ids=BEATS.keys())
def test_beats_become_boundaries(
    buffer: Any, beats: list[tuple[int | None, str | None]], expected: list[tuple[int | None, str]]
) -> None:
    writer = Writer(buffer)
    for step, phase in beats:
        writer.beat(step, phase, SOURCE_LIBRARY)
    assert told(buffer) == expected


def test_only_what_is_new_is_read(buffer: Any) -> None:
    writer = Writer(buffer)
    writer.beat(1, None, SOURCE_LIBRARY)
    writer.beat(2, None, SOURCE_LIBRARY)
    reading = record.read(buffer, 1)
    assert reading.total == 2
    assert [(b.number, b.step, b.source) for b in reading.boundaries] == [(1, 2, "Library")]


def test_a_ring_that_overran_gives_its_newest_and_never_the_slot_that_is_written_next(buffer: Any) -> None:
    writer = Writer(buffer)
    for step in range(1000):
        writer.beat(step, None, SOURCE_LIBRARY)
    steps = [boundary.step for boundary in record.read(buffer, 0).boundaries]
    assert steps == list(range(1000 - RING_LENGTH + 1, 1000))


def test_an_entry_that_was_overwritten_while_it_was_read_is_dropped(buffer: Any) -> None:
    writer = Writer(buffer)
    for step in range(10):
        writer.beat(step, None, SOURCE_LIBRARY)
    offset = record.RING_OFFSET + 4 * record.ENTRY.size
    record.ENTRY.pack_into(buffer, offset, 4 + RING_LENGTH, 0, 0, 0, 0)
    assert [boundary.step for boundary in record.read(buffer, 0).boundaries] == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_more_phases_than_the_table_holds_share_one_name(buffer: Any) -> None:
    writer = Writer(buffer)
    for number in range(400):
        writer.beat(None, f"phase-{number}", SOURCE_LIBRARY)
    phases = {phase for _step, phase in told(buffer)}
    assert phases == {"other"}


def test_a_successor_goes_on_where_the_first_writer_ended(buffer: Any) -> None:
    Writer(buffer).beat(1, "warm-up", SOURCE_LIBRARY)
    Writer(buffer).beat(2, None, SOURCE_LIBRARY)
    reading = record.read(buffer, 0)
    assert [(b.number, b.step, b.phase) for b in reading.boundaries] == [(0, 1, "warm-up"), (1, 2, "step")]


def test_an_empty_file_says_nothing(buffer: Any) -> None:
    assert record.read(buffer, 0) == record.Reading(0, None, [])
    assert isinstance(Boundary(0, 0, None, "init", None), tuple)
