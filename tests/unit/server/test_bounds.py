"""What a report cannot say: refused when it comes, so that no later pass stumbles over it."""

import dataclasses
import json
from typing import Any

import pytest

from hedgerow import wire
from hedgerow_operator.server.decoding import Malformed, decode_report
from tests.unit.server.builders import as_wired, report


def rank(number: int = 0, **changes: Any) -> wire.RankReport:
    return wire.RankReport(rank=number, local_rank=number, state=wire.RANK_RUNNING, **changes)


def checkpoint(**changes: Any) -> wire.CheckpointScan:
    return wire.CheckpointScan([wire.Checkpoint(**{"step": 1, "path": "/c", "validity": "Complete", **changes})])


MOST = report(
    workers=2,
    worker=1,
    ranks_per_worker=2,
    ranks=[
        dataclasses.replace(rank(local), rank=2 + local, phase="x" * 64, progress_age=1e10, step=-(2**63))
        for local in range(2)
    ],
    durations={f"phase-{number}": {0: 2**63, 187: 1} for number in range(64)},
    checkpoints=checkpoint(written=2.0**63),
)
REFUSED: dict[str, tuple[wire.Report, str]] = {
    "a checkpoint of the end of time": (report(checkpoints=checkpoint(written=1e308)), "written of a checkpoint"),
    "a step of a hundred digits": (report(checkpoints=checkpoint(step=10**100)), "step does not fit"),
    "a very old progress": (report(ranks=[rank(progress_age=1e300)]), "progress_age"),
    "a step that lasts for ever": (report(ranks=[rank(step_seconds=-1e300)]), "step_seconds"),
    "an idle time for ever": (report(ranks=[rank(activity=wire.Activity(idle_seconds=1e99))]), "idle_seconds"),
    "communication for ever": (
        report(ranks=[rank(communication=wire.CommunicationReport(1e99))]),
        "seconds_per_step of communication",
    ),
    "a memory without end": (report(ranks=[rank(memory_bytes=10**30)]), "memory_bytes does not fit"),
    "a worker that there is not": (report(worker=1), "worker must be 0 to 0, not 1"),
    "a negative worker": (report(worker=-1), "worker must be 0 to 0, not -1"),
    "no workers": (report(workers=0), "workers must be 1 to"),
    "workers without number": (report(workers=10**4000), "not a number beyond 64 bits"),
    "a rank of another worker": (report(ranks=[dataclasses.replace(rank(), rank=7)]), "rank 7 with local_rank 0"),
    "too many ranks": (report(ranks=[rank(), rank(1)]), "2 ranks where a worker has 1"),
    "one rank twice": (report(ranks_per_worker=2, ranks=[rank(), rank()]), "a rank twice"),
    "a long name of a phase": (report(ranks=[rank(phase="x" * 65)]), "65 characters"),
    "a long phase in durations": (report(durations={"x" * 10_000: {}}), "10000 characters"),
    "too many phases": (report(durations={str(number): {} for number in range(65)}), "65 phases; at most 64"),
    "a bucket beyond all": (report(durations={"step": {10**6: 1}}), "a bucket that is not"),
    "a negative count": (report(durations={"step": {4: -1}}), "a count that is negative"),
    "an attempt of a hundred digits": (report(attempt=10**100), "attempt does not fit"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_what_is_wrong(case: str) -> None:
    told, sentence = REFUSED[case]
    with pytest.raises(Malformed) as refused:
        decode_report(wire.encode(told))
    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("word", ["NaN", "Infinity", "1e400"])
def test_what_is_no_number_is_refused(word: str) -> None:
    body = json.dumps({**dataclasses.asdict(report()), "sent_wall": "X"}).replace('"X"', word)
    with pytest.raises(Malformed, match="the report"):
        decode_report(body.encode())


@pytest.mark.parametrize("told", [report(), MOST], ids=["an ordinary report", "the most that a launcher can say"])
def test_what_a_launcher_can_say_is_taken(told: wire.Report) -> None:
    assert as_wired(decode_report(wire.encode(told))) == told
