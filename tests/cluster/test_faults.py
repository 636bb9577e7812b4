"""Faults that really happen to ranks in pods, all at the same time: each is healed, or told as it is."""

import pytest

from tests.cluster.fault_fixtures import Faulty
from tests.cluster.scenario.ranks import AttemptWatch
from tests.local import faults

SECONDS = 150


@pytest.mark.parametrize("fault", faults.HEALED)
def test_healed_in_place_with_one_restart_from_the_newest_checkpoint_there_is(
    faulty: Faulty, watch: AttemptWatch, fault: str
) -> None:
    job = faulty.jobs[fault]
    expected = faults.HEALED[fault]
    status = job.wait_state("Succeeded", timeout=SECONDS)
    (entry,) = status["history"]
    told_of = (entry["reason"], entry["ranks"], entry["class"])
    assert told_of == (expected.reason, [1], expected.fault_class), job.story()
    assert expected.words in entry["message"]
    assert (status["restarts"], status["placement"]) == (1, 1), job.story()
    assert (status.get("resumeStep"), status["step"]) == (expected.resumed, faults.LAST)
    watch.check(job.uid)


def test_the_same_exception_on_all_ranks_is_no_reason_to_try_again(faulty: Faulty) -> None:
    job = faulty.jobs[faults.EVERYWHERE]
    status = job.wait_state("Failed", timeout=SECONDS)
    failed = job.condition("Failed")
    assert (status["restarts"], failed["reason"]) == (0, "ApplicationFault"), job.story()
    assert faults.EVERYWHERE_SAID in failed["message"]
