"""The PyTorch example on the cluster: not a word of Hedgerow in its script, and it comes back all the same."""

import pytest

from tests.cluster.scenario.jobs import Job
from tests.cluster.scenario.manifests import PYTORCH
from tests.cluster.scenario.ranks import AttemptWatch


@pytest.fixture(scope="module")
def job(pytorch: Job, torchrun_jobs: object) -> Job:
    """The example after it has ended."""
    del torchrun_jobs  # go on meanwhile
    pytorch.wait_state("Succeeded", timeout=240)
    return pytorch


def test_progress_is_seen_through_the_optimizer_and_the_rank_that_hung_is_named(job: Job, watch: AttemptWatch) -> None:
    status = job.status
    assert "import hedgerow" not in (PYTORCH / "train.py").read_text()
    (entry,) = status["history"]
    assert (entry["reason"], entry["ranks"], status["restarts"]) == ("NoProgress", [2], 1), job.story()
    watch.check(job.uid)


def test_it_resumes_from_the_last_whole_checkpoint_and_finishes(job: Job) -> None:
    status = job.status
    assert (status["resumeStep"], status["step"]) == (20, 60)
    assert len({pod["spec"]["nodeName"] for pod in job.pods()}) == 2
