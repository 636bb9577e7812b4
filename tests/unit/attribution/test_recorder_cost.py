"""A large job is judged in seconds: 1024 ranks whose buffers hold 2000 entries each."""

import time

from hedgerow_operator.core.attribution.recorder.read import read_dump
from hedgerow_operator.core.attribution.recorder.verdict import judge_dumps
from tests.unit.attribution.simulated import Job

ENTRIES = 2000
READING_SECONDS = 60.0  # a few on an idle machine
JUDGING_SECONDS = 10.0  # less than one on an idle machine


def test_1024_ranks_of_2000_entries_are_judged_in_seconds() -> None:
    job = Job(8, 32, 4, {777: 9})
    reading = judging = 0.0
    dumps = []
    for rank in range(job.world):
        values = job.values(rank)
        oldest = values["entries"][0]
        fill = [{**oldest, "state": "completed", "record_id": -place} for place in range(ENTRIES)]
        values["entries"] = fill + values["entries"]
        start = time.process_time()
        dumps.append(read_dump(values, rank))
        reading += time.process_time() - start

    start = time.process_time()
    verdict = judge_dumps(dumps)
    judging = time.process_time() - start

    print(f"reading {reading:.1f} s, judging {judging:.2f} s of processor time")
    assert verdict.guilty == (777,)
    assert (reading < READING_SECONDS, judging < JUDGING_SECONDS) == (True, True)
