"""NCCL's RAS report as JSON, in the form of NCCL's user guide."""

import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.adapters.dumps.log_file import read_log
from hedgerow_operator.core.attribution.log.explanation import Explanation, explain


def rank(number: int, count: int) -> dict[str, Any]:
    return {"rank": number, "host": "172.16.64.245", "pid": 1524344 + number, "cuda_dev": number, "nvml_dev": number,
            "status": {"init_state": 0, "async_error": 0, "abort_flag": False},
            "collective_counts": {"Broadcast": 3, "AllReduce": count}}


def missing(number: int, dead: bool = False) -> dict[str, Any]:
    return {"rank": number, "host": "172.16.64.245", "pid": 1524344 + number, "cuda_dev": number, "nvml_dev": number,
            "status": {"unresponsive": True, "considered_dead": dead}}


def report(ranks: list[dict[str, Any]], gone: list[dict[str, Any]]) -> str:
    communicator = {"hash": "0xae94423cfbb2ef4a", "size": len(ranks) + len(gone), "ranks_count": len(ranks),
                    "missing_ranks_count": len(gone), "ranks": ranks, "missing_ranks": gone}
    whole = {"nccl_version": "2.29.1", "communicators_count": 1, "communicators": [communicator],
             "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}}
    return json.dumps(whole, indent=2)


def explained(tmp_path: Path, text: str) -> Explanation:
    file = tmp_path / "ras.json"
    file.write_text(text)
    events, omitted = read_log(file)
    return explain(events, None, omitted)


# Each: the report, who is missing in the mismatch (None: there is none), its operation and number.
REPORTS: dict[str, tuple[str, list[int] | None, str | None, int | None]] = {
    "all ranks at the same operation": (report([rank(n, 41) for n in range(4)], []), None, None, None),
    "one rank behind": (report([rank(0, 41), rank(1, 41), rank(2, 40), rank(3, 41)], []), [2], "AllReduce", 41),
    "a rank that does not answer": (report([rank(0, 0)], [missing(1)]), [1], None, None),
    "one behind and one that does not answer": (report([rank(0, 9), rank(1, 8)], [missing(2)]), [1, 2], "AllReduce", 9),
}


@pytest.mark.parametrize("case", REPORTS)
def test_a_report_of(case: str, tmp_path: Path) -> None:
    text, late, op, seq = REPORTS[case]
    events = explained(tmp_path, text).events
    told = [(event.details["missing"], event.op, event.seq) for event in events if event.kind == "CollectiveMismatch"]
    assert told == ([] if late is None else [(late, op, seq)])


def test_a_comma_that_some_versions_forget_is_put_back(tmp_path: Path) -> None:
    text = report([rank(0, 9)], [missing(1)]).replace('"cuda_dev": 1,\n', '"cuda_dev": 1\n')
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(text)
    assert [event.details["missing"] for event in explained(tmp_path, text).events] == [[1]]


def test_a_process_that_is_considered_dead_is_named(tmp_path: Path) -> None:
    found = explained(tmp_path, report([rank(0, 9)], [missing(1, dead=True)]))
    assert [event.details["process"] for event in found.events if event.kind == "NetworkError"] == [1524345]


@pytest.mark.parametrize("text", ['{"nccl_version": ', '{"nccl_version": "2.29.1", "communicators": 7}',
                                  '{"nccl_version": "2.29.1", "communicators": [{"ranks": [7, {"rank": "x"}]}]}'])
def test_a_broken_report_tells_nothing_and_breaks_nothing(text: str, tmp_path: Path) -> None:
    assert explained(tmp_path, text).events == ()
