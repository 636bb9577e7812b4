"""Messages of watchdogs and of NCCL that people posted, from PyTorch 1.12 to 2.9, each with its right answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow_operator.adapters.dumps.files import rank_of
from tests.unit.attribution.reading import explained

TIMEOUT, STUCK, DUMP = "WatchdogTimeout", "WatchdogStuck", "DumpSignal"
MISMATCH, NETWORK = "CollectiveMismatch", "NetworkError"

# Each: the class, the suspects, and the events as (kind, rank, group, operation, sequence, line).
ANSWERS: dict[str, tuple[str, list[int], list[tuple[Any, ...]]]] = {
    "n01": ("Unknown", [], [(TIMEOUT, 1, None, "ALLREDUCE", 469508, 1), (TIMEOUT, 3, None, "ALLREDUCE", 469508, 2)]),
    "n03": ("Unknown", [], [(TIMEOUT, 0, None, "ALLREDUCE", 316, 1), (TIMEOUT, 3, None, "ALLREDUCE", 316, 2)]),
    "n05": ("Unknown", [], [(TIMEOUT, 5, None, "BROADCAST", 880, 1)]),
    "n06": ("Unknown", [], [(TIMEOUT, 1, "0", "_ALLGATHER_BASE", 6075, 1)]),
    "n07": ("Unknown", [], [(TIMEOUT, 1, None, "_ALLGATHER_BASE", 9141, 1), (TIMEOUT, 4, "3", None, 9141, 2)]),
    "n08": ("Unknown", [], [(TIMEOUT, 0, None, "_REDUCE_SCATTER_BASE", 7753, 1)]),
    "n09": ("Unknown", [], [(TIMEOUT, 0, None, "ALLREDUCE", 1580, 1), (TIMEOUT, 3, "1", None, 1580, 2)]),
    "n10": ("Unknown", [], [(TIMEOUT, 1, "default_pg", None, 808, 1)]),
    "n13": ("Unknown", [], [(TIMEOUT, 2, None, "_ALLGATHER_BASE", 120049, 1)]),
    "n16": ("Unknown", [], [(TIMEOUT, 1, None, "ALLREDUCE", 2521, 1)]),
    "n18": ("Unknown", [], [(STUCK, 0, "5", None, None, 1), (STUCK, 4, "5", None, None, 2)]),
    "n20": ("Unknown", [], [(STUCK, 6, "default_pg", None, None, 1)]),
    "n21": ("Unknown", [], [(STUCK, 2, "4", None, None, 1), (STUCK, 0, "6", None, None, 2)]),
    "n24": ("Unknown", [], [(DUMP, 0, "default_pg", None, 1260, 1)]),
    "n27": ("Application", [], [(MISMATCH, 1, None, "ALLREDUCE", 3104, 1)]),
    "n29": ("Unknown", [3, 4, 5, 6, 7], [(MISMATCH, None, "default_pg", "all_reduce", 31117, 1)]),
    "n32": ("Network", [], [(NETWORK, None, None, None, None, 1)]),
    "n33": ("Network", [], [(NETWORK, None, None, None, None, 1)]),
    "n34": ("Application", [39], [(MISMATCH, 39, None, None, None, 1)]),
    "n35": ("Unknown", [], [(TIMEOUT, 0, None, "ALLGATHER", 691, 1)]),
    "n39": ("Unknown", [], [(TIMEOUT, 1, None, "BROADCAST", 4, 1)]),
    "n40": ("Unknown", [], [(TIMEOUT, None, None, "ALLREDUCE", 5, 1)]),
    "n44": ("Unknown", [], []),
}
# What else a message tells.
DETAILS = {
    "n05": {"times": 2},
    "n06": {"lastEnqueued": 6139, "lastCompleted": 6074, "groupSize": 3},
    "n07": {"time": "10-16T03:31:38.928019586", "groupSize": 8},
    "n08": {"groupSize": 8},
    "n09": {"time": "03-21T02:07:08.408271257"},
    "n20": {"stuckMillis": 480_000},
    "n21": {"rankIsWithinGroup": True},
    "n24": {"from": 13},
    "n27": {"ranks": [0, 1]},
    "n29": {"missing": [3, 4, 5, 6, 7], "joined": [0, 1, 2]},
    "n32": {"status": 12, "peer": "10.216.210.236<54862>"},
    "n33": {"status": 12},
    "n39": {"startup": True},
    "n40": {"startup": True},
}


def messages(shared_data: Path) -> dict[str, list[str]]:
    return {
        case["id"]: case["lines"] for case in json.loads((shared_data / "cases" / "nccl_messages.json").read_text())
    }


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ANSWERS)
def test_the_right_answer_to(name: str, shared_data: Path) -> None:
    fault_class, suspects, events = ANSWERS[name]

    explanation = explained("\n".join(messages(shared_data)[name]))

    found = [(event.kind, event.rank, event.group, event.op, event.seq, event.line) for event in explanation.events]
    assert found == events
    assert (explanation.fault_class, list(explanation.suspects)) == (fault_class, suspects)
    if name in DETAILS:
        details = explanation.events[0].details
        assert {key: details.get(key) for key in DETAILS[name]} == DETAILS[name]


@pytest.mark.shared_data
def test_every_message_has_an_answer_here(shared_data: Path) -> None:
    assert set(messages(shared_data)) == set(ANSWERS)


@pytest.mark.shared_data
def test_with_eight_ranks_those_that_do_not_report_are_suspected(shared_data: Path) -> None:
    explanation = explained("\n".join(messages(shared_data)["n01"]), ranks=8)

    assert explanation.suspects == (0, 2, 4, 5, 6, 7)


@pytest.mark.shared_data
def test_names_of_dumps_end_in_their_rank(shared_data: Path) -> None:
    assert [rank_of(name) for name in messages(shared_data)["n44"]] == [5, 40]
