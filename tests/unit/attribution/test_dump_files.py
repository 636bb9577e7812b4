"""Finding the dumps of a directory, whatever their names and forms, and saying what cannot be read."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.adapters.dumps.files import NoDumpsError, rank_of, read_dumps
from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps
from tests.unit.attribution.simulated import Job

JOB = Job(2, 2, 2, {5: 7})
NAMES = {
    "nccl_trace_rank_7": 7,
    "_dump_12": 12,
    "nccl_trace_rank_container-node02_5": 5,
    "node07-40": 40,
    "rank_3.json": 3,
    "trace.3.pkl": 3,
    "notes": None,
    "job-7.log": None,
}


@pytest.mark.parametrize(("name", "rank"), NAMES.items(), ids=NAMES)
def test_the_rank_is_the_number_that_a_name_ends_in(name: str, rank: int | None) -> None:
    assert rank_of(name) == rank


def as_pickles(folder: Path) -> None:
    for rank in range(JOB.world):
        (folder / f"nccl_trace_rank_node{rank // 4}_{rank}").write_bytes(pickle.dumps(JOB.values(rank), 2))


def as_json(folder: Path) -> None:
    for rank in range(JOB.world):
        (folder / f"rank_{rank}.json").write_text(json.dumps(JOB.values(rank)))


def as_one_object(folder: Path) -> None:
    (folder / "all_ranks.json").write_text(json.dumps({rank: JOB.values(rank) for rank in range(JOB.world)}))


def beside_other_files(folder: Path) -> None:
    as_pickles(folder)
    (folder / "job-7.log").write_text("rank 0 is guilty\n")
    (folder / "empty_3.txt").touch()
    (folder / "folder_1").mkdir()


@pytest.mark.parametrize("write", [as_pickles, as_json, as_one_object, beside_other_files])
def test_the_verdict_is_the_same_from_dumps_written(write: Any, tmp_path: Path) -> None:
    write(tmp_path)

    dumps, notes = read_dumps(tmp_path)

    assert notes == []
    assert judge_dumps(dumps) == judge_dumps(JOB.dumps())


def test_a_file_of_all_ranks_can_be_given_itself(tmp_path: Path) -> None:
    as_one_object(tmp_path)

    dumps, _ = read_dumps(tmp_path / "all_ranks.json")

    assert [dump.rank for dump in dumps] == list(range(JOB.world))


def test_a_rank_that_wrote_its_own_file_is_not_taken_from_the_object_of_all(tmp_path: Path) -> None:
    as_one_object(tmp_path)
    (tmp_path / "rank_5").write_bytes(pickle.dumps({"entries": []}))

    dumps, _ = read_dumps(tmp_path)

    assert dumps[5].entries == 0


def test_a_dump_that_was_cut_off_is_missing_and_said_to_be(tmp_path: Path) -> None:
    as_pickles(tmp_path)
    whole = tmp_path / "nccl_trace_rank_node1_5"
    whole.write_bytes(whole.read_bytes()[:200])

    dumps, notes = read_dumps(tmp_path)

    assert notes == ["nccl_trace_rank_node1_5 cannot be read: it is cut short or damaged"]
    assert judge_dumps(dumps).guilty == (5,)


UNREADABLE = {
    "not there": (lambda folder: folder / "missing", "No such file"),
    "empty": (lambda folder: folder, "holds no flight-recorder dumps .looked for files named like nccl_trace_rank_3, "),
    "nested without end": (
        lambda folder: written(folder, "rank_0.json", b"[" * 200_000), "nested too deep",
    ),
    "JSON of something else": (lambda folder: written(folder, "rank_0.json", b'{"a": 1}'), "neither entries nor dumps"),
    "half of a JSON file": (lambda folder: written(folder, "rank_0.json", b'{"entries": ['), "truncated"),
    "a name without a rank": (lambda folder: written(folder, "dump", b'{"entries": []}'), "does not end in a rank"),
}  # fmt: skip


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(("prepare", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_one_sentence_says_why_there_is_nothing_to_read(prepare: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(NoDumpsError, match=why) as caught:
        read_dumps(prepare(tmp_path))

    assert "\n" not in str(caught.value)
