"""What other projects recorded of their clusters, file by file, and the cases about reading, by name."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.core.slurm import job_json, records, values
from hedgerow_operator.core.slurm.hostlist import expand
from hedgerow_operator.core.slurm.job_text import SQUEUE_FIELDS, read_squeue
from hedgerow_operator.core.slurm.node_json import read_nodes
from hedgerow_operator.core.slurm.node_text import SINFO_FIELDS, read_sinfo
from hedgerow_operator.core.slurm.state_words import job_state, node_state
from hedgerow_operator.core.slurm.times import duration_seconds

pytestmark = pytest.mark.shared_data

JOBS = {
    "rivos_squeue_out.json": [
        ("26515966", "RUNNING", ("cs75",), 1814400.0),
        ("58948420_[1-10]", "PENDING", (), 86340.0),
    ],
    "telegraf_gather_jobs.json": [
        ("20464", "RUNNING", ("naboo222",), 216000.0),
        ("20468", "RUNNING", ("naboo222",), 216000.0),
        ("23772", "COMPLETED", ("naboo147",), 216000.0),
    ],
    "telegraf_panic_jobs.json": [],
}
NODES = {
    "rivos_sinfo_out.json": [
        ("cs2.example.company.com", "MIXED", set()),
        ("cs3.example.company.com", "IDLE", set()),
        ("cs4.example.company.com", "ALLOCATED", set()),
        ("cs5.example.company.com", "DOWN", set()),
    ],
    "telegraf_gather_nodes.json": [
        ("naboo145", "IDLE", {"DRAIN"}),
        ("naboo146", "IDLE", {"DRAIN"}),
        ("naboo147", "ALLOCATED", set()),
    ],
    "telegraf_panic_nodes.json": [],
}
RELEASES = {
    "rivos_sdiag_2405.json": "24.05.5",
    "telegraf_gather_diag.json": "22.05.9",
    "telegraf_gather_partitions.json": "22.05.9",
    "telegraf_panic_diag.json": "",
    "telegraf_panic_partitions.json": "",
}
TEXTS = {"rivos_sinfo_fallback.txt", "rivos_squeue_fallback.txt"}
CASES = {"s03", "s05", "s07", "s09", "s17", "s21"}


def load(folder: Path, name: str) -> Any:
    """One recorded document."""
    return json.loads((folder / "slurm" / name).read_text())


def values_of(folder: Path, name: str) -> Iterator[dict[str, str]]:
    """The lines of a listing that the site printed by a format of its own, {"key": value, …}, also broken ones."""
    for line in (folder / "slurm" / name).read_text().splitlines():
        if not line.startswith("#"):
            yield {key: word.strip('"') for key, word in re.findall(r'"(\w+)":\s*("[^"]*"|[^,}]+)', line)}


def case(folder: Path, name: str) -> str:
    """The input of a case."""
    cases = json.loads((folder / "cases" / "slurm_cases.json").read_text())
    return str(next(entry["input"] for entry in cases if entry["id"] == name))


def test_every_recorded_file_is_read(shared_data: Path) -> None:
    assert {path.name for path in (shared_data / "slurm").iterdir()} == {*JOBS, *NODES, *RELEASES, *TEXTS}


@pytest.mark.parametrize(("name", "expected"), JOBS.items())
def test_recorded_jobs(shared_data: Path, name: str, expected: list[Any]) -> None:
    document = load(shared_data, name)
    found = [(job.id, job.state, job.nodes, job.time_limit_seconds) for job in job_json.read_jobs(document)]
    assert (found, values.complaints(document)) == (expected, "")


@pytest.mark.parametrize(("name", "expected"), NODES.items())
def test_recorded_nodes(shared_data: Path, name: str, expected: list[Any]) -> None:
    assert [(node.name, node.state, set(node.flags)) for node in read_nodes(load(shared_data, name))] == expected


@pytest.mark.parametrize(("name", "expected"), RELEASES.items())
def test_recorded_documents_of_other_kinds_say_their_release_and_have_no_jobs(
    shared_data: Path, name: str, expected: str
) -> None:
    document = load(shared_data, name)
    assert (job_json.release(document), job_json.read_jobs(document), read_nodes(document)) == (expected, (), ())


def test_the_nodes_of_a_recorded_partition(shared_data: Path) -> None:
    (partition,) = load(shared_data, "telegraf_gather_partitions.json")["partitions"]
    assert len(expand(partition["nodes"])) == partition["total_nodes"]


def test_recorded_lines_of_squeue_are_read_and_broken_ones_lose_nothing(shared_data: Path) -> None:
    names = {"id": "JobArrayID", "state": "State", "p": "Partition", "end_time": "EndTime", "r": "Reason"}
    text = ""
    for line in values_of(shared_data, "rivos_squeue_fallback.txt"):
        row = {names[key]: word for key, word in line.items() if key in names}
        text += records.FIELD_END.join(row.get(field, "") for field in SQUEUE_FIELDS) + records.RECORD_END
    jobs = read_squeue(text)
    assert [job.state for job in jobs] == ["RUNNING"] * 2 + ["PENDING"] * 6
    assert [job.id for job in jobs][-2:] == ["18805", "18806"]
    assert jobs[3].reason == "((ReqNodeNotAvail, UnavailableNodes:cs[100,101,102]))"
    assert {job.ended_at for job in jobs} == {None}


def test_recorded_lines_of_sinfo_are_read_each_node_once(shared_data: Path) -> None:
    names = {"n": "NodeList", "s": "StateComplete", "p": "PartitionName"}
    text = ""
    for line in values_of(shared_data, "rivos_sinfo_fallback.txt"):
        row = {names[key]: word for key, word in line.items() if key in names}
        text += records.FIELD_END.join(row.get(field, "") for field in SINFO_FIELDS) + records.RECORD_END
    assert [(node.name, node.state, node.partitions) for node in read_sinfo(text)] == [
        ("cs156", "COMPLETING", ("hw",)),
        ("cs25", "ALLOCATED", ("hw", "hw-l", "hw-m", "hw-h", "cdn")),
        ("cs31", "IDLE", ("cdn",)),
        ("cs53", "MIXED", ("hw",)),
    ]


def test_s03_times_and_hosts_of_squeue(shared_data: Path) -> None:
    first, second = (line.split() for line in case(shared_data, "s03").splitlines())
    assert [duration_seconds(word) for word in first[5:7]] == [661055.0, 720000.0]
    assert [duration_seconds(word) for word in second[5:7]] == [163.0, 1200.0]
    assert (expand(first[8]), expand(second[8])) == (("node078",), ("node001", "node002"))


def test_s05_a_comma_in_brackets_does_not_split(shared_data: Path) -> None:
    assert len(expand(case(shared_data, "s05"))) == 6


def test_s07_one_job_in_a_rare_state_does_not_fail_the_listing(shared_data: Path) -> None:
    code = case(shared_data, "s07").split()[-1]
    jobs = job_json.read_jobs({"jobs": [{"job_id": 1, "job_state": code}, {"job_id": 2, "job_state": "RUNNING"}]})
    assert [(job.state, set(job.flags)) for job in jobs] == [("PENDING", {"REQUEUE_HOLD"}), ("RUNNING", set())]


def test_s09_the_first_word_is_the_state(shared_data: Path) -> None:
    assert job_state(case(shared_data, "s09").split("|")[1]) == ("CANCELLED", frozenset())


def test_s17_may_be_requeued_and_was_requeued_are_two_things(shared_data: Path) -> None:
    requeue, restarts = (int(word.split("=")[1]) for word in case(shared_data, "s17").split())
    job = job_json.read_job({"job_id": 1, "requeue": bool(requeue), "restart_cnt": restarts})
    assert (job.requeue, job.restarts) == (True, 0)


def test_s21_every_suffix_is_a_flag_and_the_state_stays(shared_data: Path) -> None:
    words = case(shared_data, "s21").split(": ")[1].replace("and (from the sinfo manual)", "").split()
    shown = [word if word[:1].isalpha() else f"idle{word}" for word in words]
    assert len(shown) == 9
    for word in shown:
        state, flags = node_state(word)
        assert state == ("DOWN" if word.startswith("down") else "IDLE")
        assert len(flags) == 1
