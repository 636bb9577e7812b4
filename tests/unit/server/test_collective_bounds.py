"""The digest of a flight recorder is bounded when it comes: no number, depth or count in it costs the operator much."""

import functools
import json
import time
from typing import Any

import msgspec
import pytest

from hedgerow.recorder_dump import expand, reduce_dump
from hedgerow.wire import RankReport
from hedgerow_operator.server.collective_bounds import MAX_DEPTH, MAX_VALUES
from hedgerow_operator.server.decoding import Malformed, decode_report
from tests.unit.server.builders import report


def sent(digest: dict[str, Any]) -> bytes:
    rank = RankReport(rank=0, local_rank=0, state="Running")
    told = {**msgspec.to_builtins(rank), "collectives": digest}
    return json.dumps({**msgspec.to_builtins(report()), "worker": 0, "ranks": [told]}).encode()


def group(*runs: object) -> dict[str, Any]:
    return {"entries": [], "pg_config": {"0": {"rank_runs": list(runs)}}}


TOO_MUCH: dict[str, tuple[dict[str, Any], str]] = {
    "a sequence number of a hundred digits": ({"entries": [{"seq_id": 10**100}]}, "64 bits"),
    "a key among numbers without end": ({"entries": [{"1": [1e300]}]}, "64 bits"),
    "a run of a billion ranks": (group([0, 10**9, 1]), "names more than"),
    "many long runs": (group(*[[0, 10**6, 1]] * 2), "names more than"),
    "a run that is none": (group([0, 1]), "rank_runs"),
    "a run with a negative length": (group([0, -5, 1]), "rank_runs"),
    "runs that are a text": ({"entries": [], "pg_config": {"0": {"rank_runs": "012"}}}, "rank_runs"),
    "lists in lists": ({"entries": functools.reduce(lambda held, _: [held], range(MAX_DEPTH + 1), 0)}, "nested"),
    "too many values": ({"entries": [0] * MAX_VALUES}, "more than"),
    "a text without end": ({"entries": [{"state": "x" * 5000}]}, "characters"),
}


@pytest.mark.parametrize(("digest", "words"), TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_a_digest_is_refused_with(digest: dict[str, Any], words: str) -> None:
    began = time.process_time()
    with pytest.raises(Malformed, match=f"collectives of rank 0 .*{words}"):
        decode_report(sent(digest))
    assert time.process_time() - began < 2.0


def test_what_a_launcher_sends_of_a_large_job_passes() -> None:
    ranks = "[" + ", ".join(map(str, range(16384))) + "]"
    entry = {"collective_seq_id": 7, "profiling_name": "nccl:all_reduce", "state": "started", "input_sizes": [[1024]]}
    dump = {
        "entries": [{**entry, "process_group": [str(name), "default"]} for name in range(40)],
        "pg_config": {str(name): {"name": str(name), "desc": "default", "ranks": ranks} for name in range(40)},
    }
    digest = reduce_dump(dump)
    assert digest is not None
    read = decode_report(sent(digest)).ranks[0].collectives
    assert read is not None
    assert len(expand(read)["pg_config"]["3"]["ranks"]) == 16384
