"""Dumps of every version and naming generation say the same; what they do not say is not taken for 0."""

from typing import Any

import pytest

from hedgerow_operator.core.attribution.recorder.read import NotADumpError, read_dump
from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps

RANKS = range(4)
CONFIGURED: dict[str, Any] = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}}


def newest(seq: int, state: str) -> dict[str, Any]:
    return {"record_id": seq, "pg_id": 0, "process_group": ("0", "default_pg"), "collective_seq_id": seq,
            "p2p_seq_id": 0, "op_id": seq, "profiling_name": "nccl:all_reduce", "state": state, "is_p2p": False,
            "retired": False, "timeout_ms": 600000}  # fmt: skip


def from_json(seq: int, state: str) -> dict[str, Any]:
    return newest(seq, state) | {"process_group": ["0", "default_pg"]}


def first_names(seq: int, state: str) -> dict[str, Any]:
    return {"id": seq, "pg_id": 0, "seq_id": seq, "profiling_name": "nccl:all_reduce", "state": state}


def times_only(seq: int, state: str) -> dict[str, Any]:
    ended = 17 if state == "completed" else None
    return {"pg_id": "0", "seq_id": seq, "profiling_name": "nccl:all_reduce", "time_discovered_completed_ns": ended}


GENERATIONS = {
    "version 2, with configuration": (newest, {"version": "2.9", "pg_config": CONFIGURED}),
    "JSON, with lists for tuples": (from_json, {"version": "2.4", "pg_config": CONFIGURED}),
    "configuration with a list of ranks": (
        newest, {"version": "3", "pg_config": {"0": {**CONFIGURED["0"], "ranks": [0, 1, 2, 3]}}},
    ),
    "no configuration": (newest, {"version": "2.0"}),
    "a default group without ranks": (newest, {"version": "2.1", "pg_config": {"0": {**CONFIGURED["0"], "ranks": ""}}}),
    "version 1, seq_id and pg_id": (first_names, {"version": "1.0"}),
    "no state, the time of the end only": (times_only, {"version": "1.1"}),
}  # fmt: skip


@pytest.mark.parametrize(("write", "head"), GENERATIONS.values(), ids=GENERATIONS)
def test_the_rank_that_did_not_join_is_found_in(write: Any, head: dict[str, Any]) -> None:
    dumps = [
        read_dump({**head, "entries": [write(4, "completed")] + ([] if rank == 2 else [write(5, "scheduled")])}, rank)
        for rank in RANKS
    ]

    verdict = judge_dumps(dumps)

    assert (verdict.guilty, verdict.victims) == ((2,), (0, 1, 3))
    assert verdict.collective is not None
    assert (verdict.collective["op"], verdict.collective["seq"]) == ("all_reduce", 5)


def test_the_first_dumps_were_lists_of_entries() -> None:
    entries = [first_names(5, "scheduled")]

    assert judge_dumps([read_dump(entries if rank else [], rank) for rank in (0, 1)]).guilty == (0,)


def test_an_entry_without_a_sequence_number_is_not_number_0() -> None:
    without = {**newest(5, "scheduled"), "collective_seq_id": None}
    del without["collective_seq_id"]

    dump = read_dump({"entries": [without]}, 0)

    assert (dump.reached, dump.first) == ({}, {})


def test_fields_of_the_wrong_kind_are_passed_over() -> None:
    wrong = {"collective_seq_id": "x", "process_group": 7, "pg_id": {}, "profiling_name": 3, "state": []}

    dump = read_dump({"pg_config": [1], "entries": [wrong, "entry", None, newest(5, "scheduled")]}, 0)

    assert list(dump.reached.values()) == [5]


@pytest.mark.parametrize("values", [{}, {"entries": 3}, {"entries": "text"}, None, 7], ids=str)
def test_what_holds_no_entries_is_no_dump(values: object) -> None:
    with pytest.raises(NotADumpError, match="no list of entries"):
        read_dump(values, 0)
