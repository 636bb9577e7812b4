"""The flight recorder's variables, its pipe, and dumps reduced to where a rank is in each process group."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from hedgerow.recorder import RankRecorder, RecorderReader, recorder_variables
from hedgerow.recorder_dump import expand, reduce_dump

VARIABLES: dict[str, tuple[dict[str, str], dict[str, str | None]]] = {
    "all that torch's versions need": (
        {},
        {
            "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000",
            "TORCH_FR_BUFFER_SIZE": "2000",
            "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
            "TORCH_NCCL_ENABLE_TIMING": "1",
            "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "/f/nccl_",
            "TORCH_FR_DUMP_TEMP_FILE": "/f/nccl_",
            "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": "/f/nccl_pipe_",
        },
    ),
    "what the user has set stays": (
        {"TORCH_NCCL_ENABLE_TIMING": "0", "TORCH_NCCL_TRACE_BUFFER_SIZE": "9", "TORCH_FR_DUMP_TEMP_FILE": "/u/d"},
        {
            "TORCH_NCCL_ENABLE_TIMING": None,
            "TORCH_NCCL_TRACE_BUFFER_SIZE": None,
            "TORCH_FR_BUFFER_SIZE": None,
            "TORCH_FR_DUMP_TEMP_FILE": None,
            "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": None,
        },
    ),
}


@pytest.mark.parametrize(("inherited", "expected"), VARIABLES.values(), ids=VARIABLES.keys())
def test_the_recorder_is_switched_on(inherited: dict[str, str], expected: dict[str, str | None]) -> None:
    added = recorder_variables("/f", inherited)
    assert {name: added.get(name) for name in expected} == expected


def entry(seq: int, state: str = "completed", group: tuple[str, str] = ("0", "default_pg"), **more: Any) -> Any:
    return {
        "record_id": seq,
        "process_group": group,
        "collective_seq_id": seq,
        "profiling_name": "nccl:all_reduce",
        "state": state,
        "frames": [{"name": "forward", "filename": "train.py", "line": 7}] * 20,
        **more,
    }


def old(seq: int, completed_ns: int | None) -> Any:
    return {"pg_id": 1, "seq_id": seq, "profiling_name": "nccl:broadcast", "time_discovered_completed_ns": completed_ns}


def transfer(name: str, state: str = "scheduled") -> Any:
    return entry(3, state, profiling_name=name, is_p2p=True, p2p_seq_id=1)


KEPT: dict[str, tuple[list[Any], list[tuple[str, int]]]] = {
    "the newest alone when all are complete": ([entry(1), entry(2), entry(3)], [("completed", 3)]),
    "the newest and the first that is open": (
        [entry(1), entry(2, "started"), entry(3, "scheduled"), entry(4, "scheduled")],
        [("scheduled", 4), ("started", 2)],
    ),
    "once when these are the same": ([entry(1), entry(2, "started")], [("started", 2)]),
    "each group by itself": (
        [entry(5), entry(9, group=("7", "tp")), entry(10, "started", group=("7", "tp"))],
        [("completed", 5), ("started", 10)],
    ),
    "nothing of nothing": ([], []),
    "what is no entry is left out": ([None, 7, {"state": "completed"}], []),
}


@pytest.mark.parametrize(("entries", "kept"), KEPT.values(), ids=KEPT.keys())
def test_few_entries_tell_all(entries: list[Any], kept: list[tuple[str, int]]) -> None:
    reduced = reduce_dump({"entries": entries})
    assert reduced is not None
    assert [(one["state"], one["collective_seq_id"]) for one in reduced["entries"]] == kept
    assert all("frames" not in one for one in reduced["entries"])


def test_dumps_of_the_first_versions_have_no_state() -> None:
    reduced = reduce_dump([old(1, 5), old(2, None), old(3, None)])
    assert reduced is not None
    assert [one["seq_id"] for one in reduced["entries"]] == [3, 2]


def test_transfers_that_are_open_are_kept() -> None:
    reduced = reduce_dump({"entries": [transfer("nccl:send 0->1"), transfer("nccl:recv 0<-1", "completed")]})
    assert reduced is not None
    assert [one["profiling_name"] for one in reduced["entries"]] == ["nccl:send 0->1"]


RANKS = [[0, 1, 2, 3], [0, 8, 16, 24], [5], [], [3, 1, 2, 9, 10, 11], list(range(16384))]


@pytest.mark.parametrize("ranks", RANKS, ids=["run", "stride", "one", "none", "any order", "a whole fleet"])
def test_groups_come_back_as_they_were(ranks: list[int]) -> None:
    dump = {"entries": [], "pg_config": {"0": {"name": "0", "desc": "d", "ranks": str(ranks)}, "1": "odd"}}
    packed = json.dumps(reduce_dump(dump))
    assert len(packed) < 200
    assert expand(json.loads(packed))["pg_config"] == {"0": {"name": "0", "desc": "d", "ranks": ranks}, "1": "odd"}


@pytest.mark.parametrize("value", [None, 7, "text", {}, {"entries": 7}, {"entries": {}}])
def test_what_is_no_dump_is_none(value: Any) -> None:
    assert reduce_dump(value) is None


def test_nobody_is_asked_where_nobody_listens(tmp_path: Path) -> None:
    recorder = RankRecorder(3, recorder_variables(str(tmp_path), {}))
    assert not recorder.ask()
    os.mkfifo(tmp_path / "nccl_pipe_3.pipe")
    assert not recorder.ask()


def test_a_dump_is_read_when_it_is_whole_and_once(tmp_path: Path) -> None:
    recorder = RankRecorder(3, recorder_variables(str(tmp_path), {}))
    reader = RecorderReader()
    reader.start()
    reader.expect(recorder)
    whole = pickle.dumps({"entries": [entry(n) for n in range(2000)]}, protocol=2)
    with (tmp_path / "nccl_3").open("wb") as file:
        file.write(whole[:5000])
        file.flush()
        file.write(whole[5000:])
    end = time.monotonic() + 100
    while not recorder.news() and time.monotonic() < end:
        time.sleep(0.01)
    assert recorder.digest is not None
    assert recorder.digest["count"] == 2000
    assert not recorder.has_dump
    assert not recorder.news()


class Hostile:
    def __reduce__(self) -> Any:
        return (os.system, ("touch hostile",))


@pytest.mark.parametrize("data", [pickle.dumps({"entries": [Hostile()]}), b"", b"no pickle", b"\x80\x02]"])
def test_a_dump_that_is_none_calls_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nccl_0").write_bytes(data)
    recorder = RankRecorder(0, recorder_variables(str(tmp_path), {}))
    recorder.look(recorder.look(None))
    assert recorder.digest is None
    assert not (tmp_path / "hostile").exists()
